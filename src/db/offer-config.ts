import { isOpenAt } from '../schedules/hours';
import { minuteOfWeek } from '../schedules/zone';
import type { Candidate, CandidateGroup, UsedUpCap } from '../routing/eligibility';
import { METRICS } from '../routing/caps';
import { epcSql, instant, usedUpJoin } from './offer-buyers';
import { template } from './statement';
import type { Statements } from './tenant';

// The buyers of an offer as calls are routed to them. What people have set up is read once and kept in the process; at every call the versions of its
// rows are asked for, so that no change is missed, whoever made it. What calls themselves change (caps, times, lists) is read anew.

/** A change of any of these rows gives it another version; what is added or deleted changes their number. */
const versions = (rows: string) => `(SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0) FROM ${rows})`;

const MEMBERS = `buyer_group_members m JOIN offer_buyer_groups o ON o.company_id = m.company_id AND o.buyer_group_id = m.buyer_group_id WHERE o.company_id = {company_id} AND o.offer_id = {offer_id}::bigint`;
const BUYERS = `SELECT o.buyer_id FROM offer_buyers o WHERE o.company_id = {company_id} AND o.offer_id = {offer_id}::bigint UNION SELECT m.buyer_id FROM ${MEMBERS}`;

const VERSION = template(
  `SELECT concat_ws('/', ${[
    versions('offer_buyers x WHERE x.company_id = {company_id} AND x.offer_id = {offer_id}::bigint'),
    versions('offer_buyer_groups x WHERE x.company_id = {company_id} AND x.offer_id = {offer_id}::bigint'),
    versions(
      'offer_buyer_groups o JOIN buyer_groups x ON x.company_id = o.company_id AND x.id = o.buyer_group_id WHERE o.company_id = {company_id} AND o.offer_id = {offer_id}::bigint',
    ),
    versions(`(SELECT m.xmin FROM ${MEMBERS}) x`),
    versions(`(${BUYERS}) o JOIN buyers x ON x.company_id = {company_id} AND x.id = o.buyer_id`),
    versions(
      `(${BUYERS}) o JOIN buyers b ON b.company_id = {company_id} AND b.id = o.buyer_id JOIN numbers x ON x.company_id = b.company_id AND x.id = b.display_service_number_id`,
    ),
  ].join(',\n')}) AS version`,
  { prepared: true },
);

const HOURLY = METRICS.map((metric) => `${metric}_hourly_limit` as const);
type HourlyLimits = Record<(typeof HOURLY)[number], number | null>;

const OWNER = `'id', t.id, 'limit_id', l.id, 'name', t.name, 'paused', t.paused, 'tier', t.tier, 'weight', t.weight, 'zone', l.zone`;
const OWN = ['number', 'time_zone', 'buyer_type', 'buyer_fleet_id', 'timeout_seconds', 'dtmf_tones', 'press_one_to_accept', 'record_calls', 'display_caller_id_type', 'route_by_type', 'user_buyer_id', 'record_token_additional_data'] as const satisfies readonly (keyof Candidate)[]; // prettier-ignore

const CONFIG = template(
  `SELECT coalesce((SELECT json_agg(json_build_object(${OWNER}, 'dial_buyers_type', t.dial_buyers_type, 'buyer_ids',
        ARRAY(SELECT m.buyer_id FROM buyer_group_members m WHERE m.company_id = t.company_id AND m.buyer_group_id = t.id)) ORDER BY t.id)
      FROM offer_buyer_groups o JOIN buyer_groups t ON t.company_id = o.company_id AND t.id = o.buyer_group_id AND t.deleted_at IS NULL JOIN call_limits l ON l.company_id = t.company_id AND l.buyer_group_id = t.id
      WHERE o.company_id = {company_id} AND o.offer_id = {offer_id}::bigint), '[]') AS groups,
    coalesce((SELECT json_agg(json_build_object(${OWNER}, ${OWN.map((name) => `'${name}', t.${name}`).join(', ')}, 'record_token_filter_list', t.record_token_filter_data,
        'direct', EXISTS (SELECT FROM offer_buyers d WHERE d.company_id = t.company_id AND d.offer_id = {offer_id}::bigint AND d.buyer_id = t.id),
        'display_service_number', (SELECT '+' || n.phone_number FROM numbers n WHERE n.company_id = t.company_id AND n.id = t.display_service_number_id AND n.deleted_at IS NULL),
        'hours', coalesce((SELECT json_agg(json_build_object('open', x.open_minutes, ${HOURLY.map((name) => `'${name}', x.${name}`).join(', ')}) ORDER BY x.position)
          FROM buyer_business_hours x WHERE x.company_id = t.company_id AND x.buyer_id = t.id), '[]'),
        'conversions', coalesce((SELECT json_agg(json_build_object('frame', x.time_frame, 'open', x.open_minutes, 'revenue', x.revenue) ORDER BY x.time_frame, x.position)
          FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id), '[]')) ORDER BY t.id)
      FROM (${BUYERS}) o JOIN buyers t ON t.company_id = {company_id} AND t.id = o.buyer_id AND t.deleted_at IS NULL JOIN call_limits l ON l.company_id = t.company_id AND l.buyer_id = t.id), '[]') AS buyers`,
  { prepared: true },
);

interface OwnerConfig {
  id: number;
  limit_id: number;
  zone: string;
}
type GroupConfig = OwnerConfig & Omit<CandidateGroup, 'used_up'> & { buyer_ids: number[] };
type BuyerConfig = OwnerConfig &
  Omit<Candidate, 'used_up' | 'groups' | 'suppressed_by' | 'business_hours' | 'epc' | 'last_call_at' | 'current_conversion_revenue' | 'most_revenue'> & {
    hours: (HourlyLimits & { open: number[] })[];
    conversions: { frame: number; open: number[]; revenue: number }[];
    business_hours: number[][];
  };

interface Config {
  version: string;
  groups: GroupConfig[];
  buyers: BuyerConfig[];
  groups_of: Map<number, GroupConfig[]>;
  /** What of it holds in one minute; hours open and close at full ones. */
  minute?: Minute;
}

interface Minute {
  minute: number;
  revenues: Map<number, { current: number | null; most: number }>;
  /** JSON of the rows of caps with what decides about them. */
  limits: string;
}

/** Configurations that the process keeps, the one that was asked for last at the end. */
const kept = new Map<string, Config>();
const MOST_KEPT = 200;

async function configOf(db: Statements, offer_id: string): Promise<Config> {
  const values = { company_id: db.company_id, offer_id };
  const name = `${db.key}/${offer_id}`;
  // The version before the rows: a change in between gives them another version than the one that is remembered.
  const [row] = await db.query<{ version: string }>(VERSION(values));
  const found = kept.get(name);
  kept.delete(name);
  const config = found?.version === row!.version ? found : await readConfig(db, values, row!.version);
  kept.set(name, config);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return config;
}

async function readConfig(db: Statements, values: Record<string, unknown>, version: string): Promise<Config> {
  const [row] = await db.query<{ groups: GroupConfig[]; buyers: BuyerConfig[] }>(CONFIG(values));
  const { groups, buyers } = row!;
  const groups_of = new Map<number, GroupConfig[]>();
  for (const group of groups) for (const buyer_id of group.buyer_ids) groups_of.set(buyer_id, [...(groups_of.get(buyer_id) ?? []), group]);
  return { version, groups, groups_of, buyers: buyers.map((buyer) => ({ ...buyer, business_hours: buyer.hours.map(({ open }) => open) })) };
}

function minuteOf(config: Config, now: Date): Minute {
  const minute = Math.floor(now.getTime() / 60_000);
  if (config.minute?.minute === minute) return config.minute;
  const revenues: Minute['revenues'] = new Map();
  const limits = config.buyers.map(({ id, limit_id, zone, hours, conversions }) => {
    const local = minuteOfWeek(zone, now);
    const open = conversions.filter((conversion) => isOpenAt(conversion.open, local));
    const frame = conversions.filter((conversion) => conversion.frame === open[0]?.frame);
    const most = Math.max(0, ...frame.map(({ revenue }) => revenue));
    revenues.set(id, { current: open[0]?.revenue ?? null, most });
    const hour = hours.find((entry) => isOpenAt(entry.open, local));
    return { i: limit_id, r: most, ...(hour && Object.fromEntries(HOURLY.flatMap((name) => (hour[name] === null ? [] : [[name, hour[name]]])))) };
  });
  config.minute = { minute, revenues, limits: JSON.stringify([...limits, ...config.groups.map(({ limit_id }) => ({ i: limit_id, r: 0 }))]) };
  return config.minute;
}

const HOURS = HOURLY.map((name) => `CASE WHEN l.buyer_id IS NULL THEN l.${name} ELSE x.${name} END AS ${name}`).join(', ');

const CAPS_NOW = template(
  `SELECT l.id::float8 AS limit_id, u.cap, CASE WHEN {spacing_seconds}::int > 0 THEN l.last_call_at END AS last_call_at
    FROM json_to_recordset({limits}::json) AS x(i bigint, r numeric, ${HOURLY.map((name) => `${name} numeric`).join(', ')}) JOIN call_limits l ON l.company_id = {company_id} AND l.id = x.i
    CROSS JOIN LATERAL (SELECT ${HOURS}) h ${usedUpJoin('h', 'x.r')}
    WHERE u.cap IS NOT NULL OR ({spacing_seconds}::int > 0 AND l.last_call_at > {now}::timestamptz - {spacing_seconds}::int * interval '1 second')`,
  { prepared: true },
);

const HOLDING = template(
  `SELECT x.place, a.buyer_id::float8 AS buyer_id, json_agg(json_build_object('id', s.id, 'name', s.name) ORDER BY s.id) AS lists
    FROM unnest({numbers}::bigint[]) WITH ORDINALITY AS x(number, place)
    JOIN buyer_suppressions s ON s.company_id = {company_id} AND s.deleted_at IS NULL AND s.blocked > 0
      AND EXISTS (SELECT FROM buyer_suppression_numbers n WHERE n.company_id = {company_id} AND n.buyer_suppression_id = s.id AND n.number = x.number OFFSET 0)
    JOIN buyer_suppression_buyers a ON a.company_id = {company_id} AND a.buyer_suppression_id = s.id AND a.buyer_id = ANY({buyer_ids}::bigint[])
    GROUP BY x.place, a.buyer_id`,
  { prepared: true },
);

const EPC = template(`SELECT t.id::float8 AS id, (${epcSql})::float8 AS epc FROM buyers t WHERE t.company_id = {company_id} AND t.id = ANY({ids}::bigint[])`, {
  prepared: true,
});

export interface Callers {
  offer_id: string;
  /** E.164 without the plus; null when it is withheld. */
  numbers: readonly (number | null)[];
  spacing_seconds: number;
  now: Date;
}

/** The buyers of an offer for each of some callers: everything that decides who may have their calls now. */
export async function routingCandidates(db: Statements, { offer_id, numbers, spacing_seconds, now }: Callers): Promise<Candidate[][]> {
  const config = await configOf(db, offer_id);
  const { revenues, limits } = minuteOf(config, now);
  const at = { company_id: db.company_id, now: now.toISOString() };
  const caps = new Map((await db.query<CapRow>(CAPS_NOW({ ...at, limits, spacing_seconds }))).map((row) => [row.limit_id, row]));
  const buyer_ids = config.buyers.map(({ id }) => id);
  const holding = await db.query<{ place: string; buyer_id: number; lists: Candidate['suppressed_by'] }>(
    HOLDING({ ...at, numbers: numbers.map((number) => number ?? 0), buyer_ids }),
  );
  const by_epc = config.buyers.flatMap(({ id, route_by_type }) => (route_by_type === 'epc' ? [id] : []));
  const earned = new Map(
    by_epc.length === 0 ? [] : (await db.query<{ id: number; epc: number | null }>(EPC({ ...at, ids: by_epc }))).map(({ id, epc }) => [id, epc]),
  );
  const usedUp = ({ limit_id }: OwnerConfig) => capOf(caps.get(limit_id));
  const groups = new Map(config.groups.map((group) => [group, { ...group, used_up: usedUp(group) }]));
  const lists = new Map(holding.map((row) => [`${row.place}/${row.buyer_id}`, row.lists]));
  return numbers.map((_, place) =>
    config.buyers.map((buyer): Candidate => ({
      ...buyer,
      used_up: usedUp(buyer),
      last_call_at: instant(caps.get(buyer.limit_id)?.last_call_at ?? null),
      current_conversion_revenue: revenues.get(buyer.id)!.current,
      most_revenue: revenues.get(buyer.id)!.most,
      epc: earned.get(buyer.id) ?? null,
      suppressed_by: lists.get(`${place + 1}/${buyer.id}`) ?? NO_LISTS,
      groups: (config.groups_of.get(buyer.id) ?? []).map((group) => groups.get(group)!),
    })),
  );
}

const NO_LISTS: Candidate['suppressed_by'] = [];

interface CapRow {
  limit_id: number;
  cap: (Omit<UsedUpCap, 'resets_at'> & { resets_at: string | null }) | null;
  last_call_at: Date | string | null;
}

function capOf(row: CapRow | undefined): UsedUpCap | null {
  if (!row?.cap) return null;
  const { resets_at, limit } = row.cap;
  // No window that ends makes room under a limit of 0.
  return { ...row.cap, resets_at: resets_at !== null && limit > 0 ? new Date(resets_at) : null };
}
