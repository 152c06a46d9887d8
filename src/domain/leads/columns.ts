import { cachedCount } from '../../data/projection/list-statements';
import type { Filters } from '../../api/records/filters';
import { noun } from '../../api/records/noun';
import { ZIP_TOKENS } from '../../platform/tokens/lead-data';

/** Several tokens have the same meaning: the first that is not empty counts. */
const token =
  (...names: string[]) =>
  (row: 't' | 'request') =>
    `nullif(coalesce(${names.map((name) => `${row}.data->>'${name}'`).join(', ')}), '')`;
const nameTokens = (row: 't' | 'request') => `coalesce(
  ${row}.data->>'full_name',
  ${row}.data->>'name',
  coalesce(${row}.data->>'first_name', '') || ' ' || coalesce(${row}.data->>'last_name', '')
)`;
const fullName = (row: 't' | 'request') => `nullif(trim(${nameTokens(row)}), '')`;
const menuName = (row: 't' | 'request') =>
  `nullif(concat_ws(' ', ${fullName(row)}, '(+' || t.caller_number || ')'), '')`;
const country = token('country', 'country_code');
const stateProvince = token('state_province', 'state', 'province', 'region');
const zipPostalCode = token(...ZIP_TOKENS);
const CALLER_ID = `'+' || t.caller_number`;

const STATUSES: Record<string, string> = {
  queue: 'Waiting for a call',
  scheduled: 'Scheduled',
  waiting: 'Waiting',
  running: 'Being called',
  completed: 'Completed',
  completed_attempted: 'Completed, called',
  completed_connected: 'Completed, connected',
  completed_converted: 'Completed, converted',
  exceeded_max_calls: 'Contacted as often as allowed',
  expired: 'Expired',
  dnc: 'Suppressed',
  failure: 'Could not be contacted',
  disabled: 'Disabled',
  blocked: 'Blocked',
  opt_out: 'Opted out',
};

export const HUMAN_STATUS = `CASE t.status ${Object.entries(STATUSES)
  .map(([status, words]) => `WHEN '${status}' THEN '${words}'`)
  .join(' ')} ELSE t.status END`;

/** Columns that requests set as they send them; a new one is named only here. */
const FIELD_COLUMNS = [
  'email',
  'contact_field_type',
  'expires_in',
  'sub_id',
  'external_record_id',
  'lead_priority',
  'hours_to_expire',
  'max_contact_attempts',
] as const;

/** The columns of a lead that a request sets. Null or absent values have their own meaning. */
export const pickFieldColumns = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    FIELD_COLUMNS.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );

/** When the next action of a lead is due; null when there is none. A callback comes first. */
const NEXT_ACTION_AT =
  '(CASE WHEN t.due_at IS NOT NULL THEN coalesce(t.callback_at, t.next_action_at) END)';

/** The opt-out applies to the company, or to the lead's offer or schedule. */
const HAS_OPTED_OUT = `EXISTS (
  SELECT
  FROM (
    SELECT c.company_id, c.caller_number, true AS everywhere, NULL AS offer_id, NULL AS schedule_id
    FROM contacts c
    WHERE c.opt_out
    UNION ALL
    SELECT c.company_id, c.caller_number, false, c.offer_id, c.schedule_id
    FROM contact_restrictions c
    WHERE c.opt_out
  ) x
  WHERE x.company_id = t.company_id
    AND x.caller_number = t.caller_number
    AND (x.everywhere OR x.offer_id = t.offer_id OR x.schedule_id = t.schedule_id)
)`;

const NEXT_ACTIONS = 'FROM next_action_counts c WHERE c.company_id = {company_id}';
const withNextAction = `(SELECT coalesce(sum(c.n), 0) ${NEXT_ACTIONS})`;

/**
 * One bound of a period of next actions. Leads beyond it are counted by the hour, and one by one
 * within the hour of the bound.
 */
function nextActionFilter(parameter: string, within: '>=' | '<=') {
  const time = `{${parameter}}::timestamptz`;
  const hour = `date_trunc('hour', ${time}, 'UTC')`;
  const outside = within === '>=' ? '<' : '>';
  return {
    condition: `${NEXT_ACTION_AT} ${within} ${time}`,
    among: withNextAction,
    beyond: `(
      (SELECT coalesce(sum(c.n), 0) ${NEXT_ACTIONS} AND c.hour ${outside} ${hour})
      + (
        SELECT count(*)
        FROM leads t
        WHERE t.company_id = {company_id}
          AND t.deleted_at IS NULL
          AND ${NEXT_ACTION_AT} ${outside} ${time}
          AND ${NEXT_ACTION_AT} >= ${hour}
          AND ${NEXT_ACTION_AT} < ${hour} + interval '1 hour'
      )
    )`,
  };
}

const FILTERS: Filters = {
  status: 't.status = {status}',
  number: 't.caller_number = {number}::bigint',
  email: 't.email = {email}',
  has_next_action: {
    cases: { true: `${NEXT_ACTION_AT} IS NOT NULL`, false: `${NEXT_ACTION_AT} IS NULL` },
    totals: { true: withNextAction, false: `${cachedCount('leads')} - ${withNextAction}` },
  },
  buyer_converted: { cases: { true: 't.buyer_converted', false: 'NOT t.buyer_converted' } },
  opt_out: { cases: { true: HAS_OPTED_OUT, false: `NOT ${HAS_OPTED_OUT}` } },
  next_action_at_from: nextActionFilter('next_action_at_from', '>='),
  next_action_at_to: nextActionFilter('next_action_at_to', '<='),
};

/** Read by all statements that return leads, including the one that writes submissions. */
export const lead = noun({
  schema: 'Lead',
  singular: 'lead',
  plural: 'leads',
  verbs: ['list', 'new', 'show', 'delete'],
  joins: {
    k: 'LEFT JOIN contacts k ON k.company_id = t.company_id AND k.caller_number = t.caller_number',
    r: `LEFT JOIN LATERAL (
      SELECT bool_or(x.blocked) AS blocked, bool_or(x.opt_out) AS opt_out
      FROM contact_restrictions x
      WHERE x.company_id = t.company_id AND x.caller_number = t.caller_number
        AND (x.offer_id = t.offer_id OR x.schedule_id = t.schedule_id)
    ) r ON true`,
    request: `CROSS JOIN jsonb_to_record({request}::jsonb) AS request(
      data jsonb, email text, remote_ip text, zones text[]
    )`,
  },
  // Columns from the request itself. Every request by lead token contains the number.
  sentColumns: {
    context_menu_name: menuName('request'),
    name: fullName('request'),
    caller_id: CALLER_ID,
    email: 'request.email',
    full_name: fullName('request'),
    country: country('request'),
    state_province: stateProvince('request'),
    zip_postal_code: zipPostalCode('request'),
    time_zone: 'request.zones[1]',
    remote_ip: 'request.remote_ip',
    data: `coalesce(request.data, '{}')`,
  },
  search: `lower(
    coalesce(t.caller_number::text, '') || E'\\n' || coalesce(t.email, '')
    || E'\\n' || ${nameTokens('t')}
    || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  computed: {
    context_menu_name: menuName('t'),
    name: fullName('t'),
    caller_id: CALLER_ID,
    full_name: fullName('t'),
    country: country('t'),
    state_province: stateProvince('t'),
    zip_postal_code: zipPostalCode('t'),
    time_zone: 't.zones[1]',
    human_status: HUMAN_STATUS,
    has_next_action: `${NEXT_ACTION_AT} IS NOT NULL`,
    opt_out: 'coalesce(k.opt_out, false) OR coalesce(r.opt_out, false)',
    revenue: 'coalesce(t.revenue, 0)',
    payout: 'coalesce(t.payout, 0)',
    offer_converted: 'coalesce(t.offer_converted, false)',
    buyer_converted: 'coalesce(t.buyer_converted, false)',
    next_action_at: NEXT_ACTION_AT,
    is_live: 'coalesce(t.is_live, true)',
    blocked: 'coalesce(k.blocked, false) OR coalesce(r.blocked, false)',
    data: `coalesce(t.data, '{}')`,
    contact_id: 'k.id',
    next_schedule_action_id: `(
      SELECT a.id
      FROM schedule_actions a
      WHERE a.company_id = t.company_id
        AND a.schedule_id = t.schedule_id
        AND a.deleted_at IS NULL
        AND t.due_at IS NOT NULL
        AND a.end_of_schedule = (t.phase = 'end')
        AND (t.position IS NULL OR a.position > t.position)
      ORDER BY a.position
      LIMIT 1
    )`,
  },
  orders: {
    next_action_at: { sql: NEXT_ACTION_AT, type: 'timestamptz', nullable: true },
  },
  filters: FILTERS,
});
export const { projection: leadProjection } = lead;
