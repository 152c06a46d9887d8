import type { Deps } from './deps';
import type { Handlers } from './http/handlers';
import { accessControlLists } from './resources/access_control_lists';
import { accessTokens } from './resources/access_tokens';
import { agentMessages } from './resources/agent_messages';
import { agentStatuses } from './resources/agent_statuses';
import { agentStatusTimestamps } from './resources/agent_status_timestamps';
import { agents } from './resources/agents';
import { buyerFleets } from './resources/buyer_fleets';
import { buyerGroups } from './resources/buyer_groups';
import { buyerSuppressionFiles } from './resources/buyer_suppression_files';
import { buyerSuppressions } from './resources/buyer_suppressions';
import { buyers } from './resources/buyers';
import { callCenters } from './resources/call_centers';
import { callSessions } from './resources/call_sessions';
import { callReports } from './resources/call_reports';
import { calls } from './resources/calls';
import { changeLogs } from './resources/change_logs';
import { collections } from './resources/collections';
import { contacts } from './resources/contacts';
import { emails } from './resources/emails';
import { inboundWebhooks } from './resources/inbound_webhooks';
import { leadCallers } from './resources/lead_callers';
import { leadLogs } from './resources/lead_logs';
import { leadOutlook } from './resources/lead_outlook';
import { leads } from './resources/leads';
import { me } from './resources/me';
import { offers } from './resources/offers';
import { outgoingWebhooks } from './resources/outgoing_webhooks';
import { phoneNumbers } from './resources/phone_numbers';
import { pings } from './resources/pings';
import { scheduleActions } from './resources/schedule_actions';
import { routing } from './resources/routing';
import { schedules } from './resources/schedules';
import { telephony } from './resources/telephony';
import { textMessages } from './resources/text_messages';
import { trafficSources } from './resources/traffic_sources';
import { users } from './resources/users';
import { webhookLogs } from './resources/webhook_logs';
import { webhookManualFires } from './resources/webhook_manual_fires';

/** The whole API as one object: an operation of the contract without a handler does not compile. */
export const createHandlers = (deps: Deps): Handlers =>
  combined([
    buyers(deps),
    buyerGroups(deps),
    buyerFleets(deps),
    buyerSuppressions(deps),
    buyerSuppressionFiles(deps),
    leads(deps),
    leadCallers(deps),
    leadOutlook(deps),
    callSessions(deps),
    routing(deps),
    calls(deps),
    callReports(deps),
    inboundWebhooks(deps),
    outgoingWebhooks(deps),
    webhookLogs(deps),
    webhookManualFires(deps),
    pings(deps),
    offers(deps),
    schedules(deps),
    scheduleActions(deps),
    trafficSources(deps),
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
    users(deps),
    accessControlLists(deps),
    changeLogs(deps),
    accessTokens(deps),
    me(),
    collections(deps),
  ]);

type Together<Part> = (Part extends object ? (part: Part) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

function combined<Part extends object>(parts: readonly Part[]): Together<Part> {
  requireDistinct(parts);
  return Object.assign({}, ...parts) as Together<Part>;
}

/** Putting objects together hides a name that two of them use. */
export function requireDistinct(parts: readonly object[]): void {
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`two handlers are called ${twice}`);
}
