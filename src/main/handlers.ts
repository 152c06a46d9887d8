import type { Deps } from '../domain/deps';
import type { Handlers } from '../api/handlers';
import { accountEntries } from '../domain/money/account-entries';
import { statements } from '../domain/money/statements';
import { accessControlLists } from '../domain/people/access-control-lists';
import { accessTokens } from '../domain/people/access-tokens';
import { alertRules } from '../domain/alerts/alert-rules';
import { agentMessages } from '../domain/agents/agent-messages';
import { agentStatuses } from '../domain/agents/agent-statuses';
import { agentStatusTimestamp } from '../domain/agents/agent-status-timestamps';
import { deleteAgent } from '../domain/agents/delete-agent';
import { agents } from '../domain/agents/agents';
import { buyerFleet } from '../domain/buyers/buyer-fleets';
import { buyerGroups } from '../domain/buyers/buyer-groups';
import { buyerSuppressionFiles } from '../domain/suppression/files';
import { buyerSuppressions } from '../domain/suppression/lists';
import { buyers } from '../domain/buyers/buyers';
import { callCenter } from '../domain/agents/call-centers';
import { callSessions } from '../domain/calls/call-sessions';
import { callImports } from '../domain/calls/import-calls';
import { recordings } from '../domain/calls/recordings';
import { callReports } from '../domain/calls/reports';
import { calls } from '../domain/calls/calls';
import { changeLog } from '../domain/people/change-logs';
import { collections } from '../api/records/collections';
import { company } from '../domain/people/company';
import { contacts } from '../domain/leads/contacts';
import { switchCalls } from '../domain/calls/sync-switch';
import { switches } from '../domain/switches/switches';
import { trunks } from '../domain/switches/trunks';
import { disposition } from '../domain/calls/dispositions';
import { email } from '../domain/outreach/emails';
import { eventStream } from '../domain/events/event-stream';
import { inboundWebhooks } from '../domain/ping-post/inbound-webhooks';
import { leadCallers } from '../domain/leads/lead-callers';
import { leadLog } from '../domain/leads/lead-logs';
import { leadTimeline } from '../domain/outreach/timeline';
import { leads } from '../domain/leads/leads';
import { me } from '../domain/people/me';
import { offers } from '../domain/offers/offers';
import { outgoingWebhooks } from '../domain/webhooks/outgoing-webhooks';
import { phoneNumbers } from '../domain/numbers/phone-numbers';
import { pings } from '../domain/ping-post/pings';
import { scheduleActions } from '../domain/schedules/schedule-actions';
import { simulations } from '../domain/simulation/simulations';
import { schedules } from '../domain/schedules/schedules';
import { jambonz } from '../domain/telephony/jambonz';
import { telephony } from '../domain/telephony/telephony';
import { textMessages } from '../domain/outreach/text-messages';
import { trafficSourceTokens } from '../domain/offers/traffic-source-tokens';
import { trafficSources } from '../domain/offers/traffic-sources';
import { users } from '../domain/people/users';
import { valueLists, zipLists } from '../domain/value-lists/value-lists';
import { webhookLogs } from '../domain/webhooks/webhook-logs';
import { webhookManualFires } from '../domain/webhooks/manual-fires';

export const createHandlers = (deps: Deps): Handlers =>
  combineHandlers([
    buyers(deps),
    buyerGroups(deps),
    buyerFleet.handlers(deps),
    buyerSuppressions(deps),
    buyerSuppressionFiles(deps),
    leads(deps),
    leadCallers(deps),
    leadTimeline(deps),
    callSessions(deps),
    simulations(deps),
    calls(deps),
    callReports(deps),
    recordings(deps),
    callImports(deps),
    disposition.handlers(deps),
    switches(deps),
    trunks(deps),
    switchCalls(deps),
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
    callCenter.handlers(deps),
    agentStatuses(deps),
    agents(deps),
    agentStatusTimestamp.handlers(deps),
    agentMessages(deps),
    contacts(deps),
    textMessages(deps),
    email.handlers(deps),
    leadLog.handlers(deps),
    telephony(deps),
    jambonz(deps),
    users(deps, deleteAgent),
    accessControlLists(deps),
    changeLog.handlers(deps),
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
