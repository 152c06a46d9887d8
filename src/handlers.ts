import type { Deps } from './deps-type';
import type { Handlers } from './http/handlers';
import { accountEntries } from './accounts/account-entries';
import { statements } from './accounts/statements';
import { accessControlLists } from './people/access-control-lists';
import { accessTokens } from './people/access-tokens';
import { alertRules } from './alerts/alert-rules';
import { agentMessages } from './agents/agent-messages';
import { agentStatuses } from './agents/agent-statuses';
import { agentStatusTimestamps } from './agents/agent-status-timestamps';
import { deleteAgent } from './agents/delete-agent';
import { agents } from './agents/agents';
import { buyerFleets } from './buyers/buyer-fleets';
import { buyerGroups } from './buyers/buyer-groups';
import { buyerSuppressionFiles } from './suppression/files';
import { buyerSuppressions } from './suppression/lists';
import { buyers } from './buyers/buyers';
import { callCenters } from './agents/call-centers';
import { callSessions } from './calls/call-sessions';
import { callReports } from './calls/reports';
import { calls } from './calls/calls';
import { changeLogs } from './people/change-logs';
import { collections } from './http/collections';
import { company } from './people/company';
import { contacts } from './leads/contacts';
import { dispositions } from './calls/dispositions';
import { emails } from './outreach/emails';
import { eventStream } from './events/event-stream';
import { inboundWebhooks } from './ping-post/inbound-webhooks';
import { leadCallers } from './leads/lead-callers';
import { leadLogs } from './leads/lead-logs';
import { leadTimeline } from './outreach/timeline';
import { leads } from './leads/leads';
import { me } from './people/me';
import { offers } from './offers/offers';
import { outgoingWebhooks } from './webhooks/outgoing-webhooks';
import { phoneNumbers } from './numbers/phone-numbers';
import { pings } from './ping-post/pings';
import { scheduleActions } from './schedules/schedule-actions';
import { routing } from './routing/routing';
import { schedules } from './schedules/schedules';
import { telephony } from './telephony/telephony';
import { textMessages } from './outreach/text-messages';
import { trafficSourceTokens } from './offers/traffic-source-tokens';
import { trafficSources } from './offers/traffic-sources';
import { users } from './people/users';
import { valueLists, zipLists } from './value-lists/value-lists';
import { webhookLogs } from './webhooks/webhook-logs';
import { webhookManualFires } from './webhooks/manual-fires';

export const createHandlers = (deps: Deps): Handlers =>
  combineHandlers([
    buyers(deps),
    buyerGroups(deps),
    buyerFleets(deps),
    buyerSuppressions(deps),
    buyerSuppressionFiles(deps),
    leads(deps),
    leadCallers(deps),
    leadTimeline(deps),
    callSessions(deps),
    routing(deps),
    calls(deps),
    callReports(deps),
    dispositions(deps),
    inboundWebhooks(deps),
    alertRules(deps),
    outgoingWebhooks(deps),
    webhookLogs(deps),
    webhookManualFires(deps),
    pings(deps),
    offers(deps),
    schedules(deps),
    scheduleActions(deps),
    trafficSources(deps),
    trafficSourceTokens(deps),
    accountEntries(deps),
    statements(deps),
    valueLists(deps),
    zipLists(deps),
    phoneNumbers(deps),
    callCenters(deps),
    agentStatuses(deps),
    agents(deps),
    agentStatusTimestamps(deps),
    agentMessages(deps),
    contacts(deps),
    textMessages(deps),
    emails(deps),
    leadLogs(deps),
    telephony(deps),
    users(deps, deleteAgent),
    accessControlLists(deps),
    changeLogs(deps),
    accessTokens(deps),
    me(),
    company(deps),
    eventStream(deps),
    collections(deps),
  ]);

type Intersection<Part> = (Part extends object ? (part: Part) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

function combineHandlers<Part extends object>(parts: readonly Part[]): Intersection<Part> {
  requireDistinct(parts);
  return Object.assign({}, ...parts) as Intersection<Part>;
}

/** Object.assign would hide a name that two of the objects have. */
export function requireDistinct(parts: readonly object[]): void {
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`two handlers are called ${twice}`);
}
