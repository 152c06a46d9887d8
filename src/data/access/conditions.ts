import type { Table } from '../references';

// The records that a limited caller may see: those that the caller's teams are granted, and those
// that belong to them. Every condition is SQL over a row t with the parameters {company_id},
// {scope_teams} and {scope_user}; no filter of the contract has such a name.

export const TEAMS = 'ANY({scope_teams}::bigint[])';

type Granted = 'buyer' | 'buyer_group' | 'offer' | 'traffic_source';

const TEAM_OF_GRANT = `JOIN access_control_lists a
    ON a.company_id = g.company_id AND a.id = g.access_control_list_id`;

/**
 * Ids of records that the teams are granted. `teams` is a further condition on the team, alias a.
 */
export const buildGranted = (kind: Granted, teams = '') => `
  SELECT g.${kind}_id FROM access_control_list_${kind}s g ${teams && TEAM_OF_GRANT}
  WHERE g.company_id = {company_id} AND g.access_control_list_id = ${TEAMS} ${teams}`;

const buildGrantedByGroup = (teams = '') => `
  SELECT m.buyer_id FROM access_control_list_buyer_groups g ${teams && TEAM_OF_GRANT}
  JOIN buyer_group_members m ON m.company_id = g.company_id AND m.buyer_group_id = g.buyer_group_id
  WHERE g.company_id = {company_id} AND g.access_control_list_id = ${TEAMS} ${teams}`;

const buildAnyArray = (...selects: string[]) => `ANY(ARRAY(${selects.join(' UNION ')}))`;

export const BUYERS = buildAnyArray(buildGranted('buyer'), buildGrantedByGroup());
export const GROUPS = buildAnyArray(buildGranted('buyer_group'));
export const OFFERS = buildAnyArray(buildGranted('offer'));
const buildSchedules = (offers: string) =>
  buildAnyArray(
    `SELECT s.id FROM schedules s WHERE s.company_id = {company_id} AND s.offer_id = ${offers}`,
  );
export const SCHEDULES = buildSchedules(OFFERS);

export const SOURCES = buildAnyArray(buildGranted('traffic_source'));

/**
 * Offers of teams that have no buyers, groups or sources: these teams see everything that comes to
 * them.
 */
export const WHOLE_OFFER_IDS = `${buildGranted('offer')}
  AND NOT EXISTS (
    SELECT FROM access_control_list_buyers n
    WHERE n.company_id = g.company_id AND n.access_control_list_id = g.access_control_list_id)
  AND NOT EXISTS (
    SELECT FROM access_control_list_buyer_groups n
    WHERE n.company_id = g.company_id AND n.access_control_list_id = g.access_control_list_id)
  AND NOT EXISTS (
    SELECT FROM access_control_list_traffic_sources n
    WHERE n.company_id = g.company_id AND n.access_control_list_id = g.access_control_list_id)`;
export const WHOLE_OFFERS = buildAnyArray(WHOLE_OFFER_IDS);

/** Buyers whose payments the teams see, at every offer or at the team's offers alone. */
const AT_ALL_OFFERS = buildAnyArray(
  buildGranted('buyer', 'AND a.all_offers'),
  buildGrantedByGroup('AND a.all_offers'),
);
const AT_OWN_OFFERS = buildAnyArray(
  buildGranted('buyer', 'AND NOT a.all_offers'),
  buildGrantedByGroup('AND NOT a.all_offers'),
);

/** Traffic sources whose payouts the teams see, at every offer or at the team's offers alone. */
const SENT_TO_ALL_OFFERS = buildAnyArray(buildGranted('traffic_source', 'AND a.all_offers'));
const SENT_TO_OWN_OFFERS = buildAnyArray(buildGranted('traffic_source', 'AND NOT a.all_offers'));

const TEAM_OF_OFFER_AND_SOURCE = `
  SELECT FROM access_control_list_offers o
  JOIN access_control_lists a ON a.company_id = o.company_id AND a.id = o.access_control_list_id
  JOIN access_control_list_traffic_sources g
    ON g.company_id = o.company_id AND g.access_control_list_id = o.access_control_list_id
  WHERE o.company_id = t.company_id AND o.offer_id = t.offer_id
    AND o.access_control_list_id = ${TEAMS} AND NOT a.all_offers
    AND g.traffic_source_id = t.traffic_source_id`;

/** A team that has both the offer and the buyer of the row. */
const TEAM_OF_BOTH = `
  SELECT FROM access_control_list_offers o
  JOIN access_control_lists a ON a.company_id = o.company_id AND a.id = o.access_control_list_id
  WHERE o.company_id = t.company_id AND o.offer_id = t.offer_id
    AND o.access_control_list_id = ${TEAMS} AND NOT a.all_offers
    AND (
      EXISTS (
        SELECT FROM access_control_list_buyers g
        WHERE g.company_id = o.company_id
          AND g.access_control_list_id = o.access_control_list_id
          AND g.buyer_id = t.buyer_id)
      OR EXISTS (
        SELECT FROM access_control_list_buyer_groups g
        JOIN buyer_group_members m
          ON m.company_id = g.company_id AND m.buyer_group_id = g.buyer_group_id
        WHERE g.company_id = o.company_id
          AND g.access_control_list_id = o.access_control_list_id
          AND m.buyer_id = t.buyer_id))`;

const OF_BUYERS = `(
  t.buyer_id = ${AT_ALL_OFFERS}
  OR t.buyer_id = ${AT_OWN_OFFERS} AND EXISTS (${TEAM_OF_BOTH}))`;
const OF_SOURCES = `(
  t.traffic_source_id = ${SENT_TO_ALL_OFFERS}
  OR t.traffic_source_id = ${SENT_TO_OWN_OFFERS} AND EXISTS (${TEAM_OF_OFFER_AND_SOURCE}))`;

/**
 * A call or a lead that a granted buyer paid for, that a granted traffic source has sent, or that
 * came to a granted offer.
 */
export const PAID_FOR = `(
  t.buyer_converted AND ${OF_BUYERS}
  OR ${OF_SOURCES}
  OR t.offer_id = ${WHOLE_OFFERS})`;

/** The condition to see the payout of a visible call or lead. */
export const PURCHASE = `(${OF_SOURCES} OR t.offer_id = ${WHOLE_OFFERS})`;
/** The condition to see its revenue. */
export const SALE = `(${OF_BUYERS} OR t.offer_id = ${WHOLE_OFFERS})`;

/** A call that was connected to a granted buyer, which may report that it pays. */
export const REPORTABLE = `(
  ${OF_BUYERS} AND EXISTS (
    SELECT FROM call_attempts x
    WHERE x.company_id = t.company_id AND x.call_id = t.id AND x.buyer_id = t.buyer_id
      AND x.connected_at IS NOT NULL))`;

const OF_PURCHASE = `t.event IN ('payout', 'payout_changed', 'payout_returned')`;

/** A row that belongs to a visible row of another table. */
const buildParentCondition = (table: keyof typeof DIRECT, column: string) => `EXISTS (
  SELECT FROM (
    SELECT x.* FROM ${table} x WHERE x.company_id = t.company_id AND x.id = t.${column}
  ) t
  WHERE ${DIRECT[table]})`;

/** A row with the caller's number of a visible call or lead. */
const buildNumberCondition = (table: 'leads' | 'calls') => `EXISTS (
  SELECT FROM (
    SELECT x.* FROM ${table} x
    WHERE x.company_id = t.company_id AND x.caller_number = t.caller_number
      AND x.deleted_at IS NULL
  ) t
  WHERE ${PAID_FOR})`;

const buildListCondition = (kind: 'buyer' | 'offer', visible: string) => `EXISTS (
  SELECT FROM buyer_suppression_${kind}s x
  WHERE x.company_id = t.company_id AND x.buyer_suppression_id = t.id
    AND x.${kind}_id = ${visible})`;

/**
 * A record that sends or answers for its maker: visible to the maker, and to callers who are in all
 * teams that it acts for. A record of the company itself shows more than any limited caller sees.
 */
const OWN_MAKER = `(
  t.maker_user_id = {scope_user}::bigint
  OR t.maker_user_id IS NOT NULL AND t.maker_team_ids <@ {scope_teams}::bigint[])`;

const OF_ACCOUNT = `(t.buyer_id = ${BUYERS} OR t.traffic_source_id = ${SOURCES})`;

/** Conditions of tables whose own columns are enough. */
const DIRECT = {
  buyers: `t.id = ${BUYERS}`,
  buyer_groups: `t.id = ${GROUPS}`,
  offers: `t.id = ${OFFERS}`,
  calls: PAID_FOR,
  leads: PAID_FOR,
  call_attempts: `t.buyer_id = ${BUYERS}`,
  call_events: `(
    (t.buyer_id IS NULL OR t.buyer_id = ${BUYERS})
    AND (NOT (${OF_PURCHASE}) OR EXISTS (
      SELECT FROM (
        SELECT x.* FROM calls x WHERE x.company_id = t.company_id AND x.id = t.call_id
      ) t
      WHERE ${PURCHASE})))`,
  // A caller who sees the whole of an offer sees who sends calls to it.
  traffic_sources: `(t.id = ${SOURCES} OR EXISTS (${WHOLE_OFFER_IDS}))`,
  numbers: `(t.offer_id = ${OFFERS} OR t.buyer_id = ${BUYERS})`,
  schedules: `t.offer_id = ${OFFERS}`,
  inbound_webhooks: `(t.offer_id = ${OFFERS} AND ${OWN_MAKER})`,
  buyer_fleets: `EXISTS (
    SELECT FROM buyers x
    WHERE x.company_id = t.company_id AND x.buyer_fleet_id = t.id AND x.id = ${BUYERS})`,
  buyer_suppressions: `(
    ${buildListCondition('buyer', BUYERS)} OR ${buildListCondition('offer', OFFERS)}
  )`,
  conversions: `t.buyer_id = ${BUYERS}`,
  outgoing_webhooks: `(
    (
      t.owner_type = 'Buyer' AND t.owner_id = ${BUYERS}
      OR t.owner_type = 'BuyerGroup' AND t.owner_id = ${GROUPS}
      OR t.owner_type = 'Offer' AND t.owner_id = ${WHOLE_OFFERS})
    AND ${OWN_MAKER})`,
  users: `EXISTS (
    SELECT FROM access_control_list_users x
    WHERE x.company_id = t.company_id AND x.user_id = t.id
      AND x.access_control_list_id = ${TEAMS})`,
  access_control_lists: `t.id = ${TEAMS}`,
  agent_messages: `(
    t.user_id = {scope_user}::bigint
    OR EXISTS (
      SELECT FROM agent_message_recipients x
      JOIN agents g ON g.company_id = x.company_id AND g.id = x.agent_id
      WHERE x.company_id = t.company_id AND x.agent_message_id = t.id
        AND g.user_id = {scope_user}::bigint AND g.deleted_at IS NULL))`,
  agents: `(
    t.user_id = {scope_user}::bigint
    OR EXISTS (
      SELECT FROM access_control_list_users x
      WHERE x.company_id = t.company_id AND x.user_id = t.user_id
        AND x.access_control_list_id = ${TEAMS})
    OR EXISTS (
      SELECT FROM agent_buyers x
      WHERE x.company_id = t.company_id AND x.agent_id = t.id AND x.buyer_id = ${BUYERS}))`,
  traffic_source_tokens: `t.traffic_source_id = ${SOURCES}`,
  // Alert rules watch the whole company.
  alert_rules: 'false',
  alerts: 'false',
  // Switches have calls of the whole company.
  switches: 'false',
  trunks: 'false',
  account_entries: OF_ACCOUNT,
  statements: OF_ACCOUNT,
  access_tokens: 't.user_id = {scope_user}::bigint',
  change_logs: 't.user_id = {scope_user}::bigint',
} as const satisfies Partial<Record<Table, string>>;

/**
 * The condition for a row of a table to be visible. Rows of a table without a condition belong to
 * the whole company: every caller with the permission sees them.
 */
export const CONDITIONS: Partial<Record<Table, string>> = {
  ...DIRECT,
  // An action that sends shows its URL and its secrets.
  schedule_actions: `(
    ${buildParentCondition('schedules', 'schedule_id')} AND (t.url IS NULL OR ${OWN_MAKER})
  )`,
  buyer_suppression_files: buildParentCondition('buyer_suppressions', 'buyer_suppression_id'),
  lead_logs: buildParentCondition('leads', 'lead_id'),
  text_messages: buildParentCondition('leads', 'lead_id'),
  emails: buildParentCondition('leads', 'lead_id'),
  agent_status_timestamps: buildParentCondition('agents', 'agent_id'),
  contacts: `(${buildNumberCondition('leads')} OR ${buildNumberCondition('calls')})`,
  webhook_logs: buildParentCondition('outgoing_webhooks', 'outgoing_webhook_id'),
  webhook_manual_fires: buildParentCondition('outgoing_webhooks', 'outgoing_webhook_id'),
};

/** No row of another table connects the record t with a record that is not visible. */
const buildExclusiveCondition = (
  table: string,
  recordColumn: string,
  column: string,
  visible: string,
) =>
  `NOT EXISTS (
    SELECT FROM ${table} x
    WHERE x.company_id = t.company_id AND x.${recordColumn} = t.id
      AND NOT (x.${column} = ${visible}))`;

const list = 'buyer_suppression_id';
const WHOLE_SCHEDULES = buildSchedules(WHOLE_OFFERS);
const WHOLE_LIST = `(
  ${DIRECT.buyer_suppressions}
  AND ${buildExclusiveCondition('buyer_suppression_buyers', list, 'buyer_id', BUYERS)}
  AND ${buildExclusiveCondition('buyer_suppression_offers', list, 'offer_id', WHOLE_OFFERS)}
  AND ${buildExclusiveCondition(
    'buyer_suppression_schedules',
    list,
    'schedule_id',
    WHOLE_SCHEDULES,
  )})`;

const OTHER_TEAM_OF_AGENT = `
  SELECT FROM access_control_list_users x
  JOIN access_control_lists a ON a.company_id = x.company_id AND a.id = x.access_control_list_id
  WHERE x.company_id = t.company_id AND x.user_id = t.user_id AND a.deleted_at IS NULL
    AND NOT (a.id = ${TEAMS})`;

/**
 * The condition for a row to be entirely the caller's, for tables whose rows several may use: a
 * team without buyers has the whole of an offer; a suppression list, a fleet or a number must have
 * no other users, and an agent no other buyers or teams. An agent also belongs to its user, and a
 * message to its sender alone, even where others receive it.
 */
export const WHOLE_CONDITIONS: Partial<Record<Table, string>> = {
  offers: `t.id = ${WHOLE_OFFERS}`,
  schedules: `t.offer_id = ${WHOLE_OFFERS}`,
  schedule_actions: `t.schedule_id = ${WHOLE_SCHEDULES}`,
  buyer_suppressions: WHOLE_LIST,
  buyer_suppression_files: `EXISTS (
    SELECT FROM (
      SELECT x.* FROM buyer_suppressions x
      WHERE x.company_id = t.company_id AND x.id = t.buyer_suppression_id
    ) t
    WHERE ${WHOLE_LIST})`,
  buyer_fleets: `(
    ${DIRECT.buyer_fleets}
    AND NOT EXISTS (
      SELECT FROM buyers x
      WHERE x.company_id = t.company_id AND x.buyer_fleet_id = t.id AND x.deleted_at IS NULL
        AND NOT (x.id = ${BUYERS})))`,
  numbers: `(
    ${DIRECT.numbers}
    AND (t.offer_id IS NULL OR t.offer_id = ${WHOLE_OFFERS})
    AND (t.buyer_id IS NULL OR t.buyer_id = ${BUYERS}))`,
  agents: `(
    t.user_id = {scope_user}::bigint
    OR ${DIRECT.agents}
      AND ${buildExclusiveCondition('agent_buyers', 'agent_id', 'buyer_id', BUYERS)}
      AND NOT EXISTS (${OTHER_TEAM_OF_AGENT}))`,
  agent_messages: 't.user_id = {scope_user}::bigint',
};
