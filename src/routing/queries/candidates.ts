import { CAPS, type CapOwner } from '../../buyers/caps';
import type { Candidate, CandidateGroup, UsedUpCap } from '../engine/eligibility';
import { capColumns, limitsJoin, openHoursJoin, takenNow } from '../../buyers/cap-columns';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';
import { executorOf, type Executor } from '../../db/executor';

/** Whose buyers are asked for, and who calls. */
export interface Asked {
  company_id: string;
  offer_id: string;
  /** E.164 without the plus. */
  caller_number: string;
}

/**
 * The owner's cap that keeps a call from it as JSON `u.cap`, null while none does: one that is reached, or one of dollars that has less left than the
 * call may bring (`revenue`).
 */
export function usedUpJoin(hourly: 'h' | 'l', revenue: string): string {
  const { maxed_out_by, cap_reset_at, ...columns } = capColumns(hourly);
  const ofCap = (what: 'used' | 'limit') =>
    `CASE m.cap ${CAPS.map(({ metric, interval, limit }) => `WHEN '${metric}_${interval}' THEN ${what === 'used' ? takenNow(metric, interval) : columns[limit]}`).join('\n')}
      ELSE ${columns[`concurrency_cap_${what}`]} END`;
  const dollars = CAPS.filter(({ metric }) => metric === 'revenue' || metric === 'earned_revenue');
  const too_little = dollars
    .map(
      (cap) =>
        `WHEN ${columns[cap.limit]} IS NOT NULL AND ${takenNow(cap.metric, cap.interval)} + ${revenue} > ${columns[cap.limit]} THEN '${cap.metric}_${cap.interval}'`,
    )
    .join('\n');
  return `LEFT JOIN LATERAL (SELECT json_build_object('cap', m.cap, 'used', ${ofCap('used')}, 'limit', ${ofCap('limit')}, 'resets_at', ${resetOf('m.cap', cap_reset_at)}) AS cap
    FROM (SELECT coalesce(${maxed_out_by}, CASE ${too_little} END) AS cap OFFSET 0) m WHERE m.cap IS NOT NULL) u ON true`;
}

/** When it frees: that of the caps that are reached, else that of the one that has too little left, if its window runs: a new one has no more. */
function resetOf(cap: string, cap_reset_at: string): string {
  const windows = ['hourly', 'daily', 'monthly'].map(
    (each) =>
      `WHEN ${cap} LIKE '%revenue_${each}' AND l.${each}_resets_at > {now}::timestamptz THEN l.${each}_resets_at`,
  );
  return `coalesce(${cap_reset_at}, CASE ${windows.join(' ')} END)`;
}

const OWNER = ['id', 'name', 'paused', 'tier', 'weight'] as const;
const GROUP = [...OWNER, 'dial_buyers_type'] as const satisfies readonly (keyof CandidateGroup)[];
const BUYER = [
  ...OWNER,
  'number',
  'time_zone',
  'buyer_type',
  'buyer_fleet_id',
  'timeout_seconds',
  'dtmf_tones',
  'press_one_to_accept',
  'record_calls',
  'display_caller_id_type',
  'route_by_type',
  'user_buyer_id',
  'record_token_additional_data',
] as const satisfies readonly (keyof Candidate)[];

const pairs = (names: readonly string[]) => names.map((name) => `'${name}', t.${name}`).join(', ');

/** Keys and values, for json_build_object, of what stands in the row t of an owner itself and in its row l of call_limits. */
export const own = (owner: 'buyer' | 'group'): string =>
  `${owner === 'group' ? pairs(GROUP) : `${pairs(BUYER)}, 'record_token_filter_list', t.record_token_filter_data`}, 'zone', l.zone`;

/** What the buyer t pays by the conversions of its time frame as `p`: the most for one call, and whether it pays for being dialed. */
export const PAYS_JOIN = `CROSS JOIN LATERAL (SELECT coalesce(max(x.revenue), 0) AS revenue,
    coalesce(bool_or(x.conversion_type = 'duration' AND x.duration = 0 AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))), false) AS at_dial
  FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id AND x.time_frame = (
    SELECT min(y.time_frame) FROM buyer_conversions y WHERE y.company_id = t.company_id AND y.buyer_id = t.id AND is_open(y.open_minutes, local_minute_of_week({now}::timestamptz, l.zone)))) p`;

/** Of the first conversion of the first time frame that is open now. */
const CURRENT_REVENUE = `(SELECT x.revenue FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id
  AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone)) ORDER BY x.time_frame, x.position LIMIT 1)`;

/** The number of the company that the buyer sees in place of the caller's. */
export const DISPLAYED = `(SELECT '+' || n.phone_number FROM numbers n WHERE n.company_id = t.company_id AND n.id = t.display_service_number_id AND n.deleted_at IS NULL)`;

/** What a call brought in the last hours that count; what is assumed until there were calls enough, and of a buyer that is not ranked so nothing. */
export const epcSql = `SELECT CASE WHEN count(*) >= greatest(1, coalesce(t.epc_assumed_calls_count, 1)) THEN coalesce(sum(v.revenue), 0) / count(*) ELSE t.epc_assumed_amount END
  FROM call_attempts a LEFT JOIN conversions v ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
  WHERE a.company_id = t.company_id AND a.buyer_id = t.id AND a.created_at > {now}::timestamptz - coalesce(t.epc_timeframe, 24) * interval '1 hour'`;
const EPC = `CASE WHEN t.route_by_type = 'epc' THEN (${epcSql}) END`;

const BUSINESS_HOURS = `coalesce((SELECT json_agg(x.open_minutes ORDER BY x.position) FROM buyer_business_hours x WHERE x.company_id = t.company_id AND x.buyer_id = t.id), '[]')`;

/**
 * Looked up row by row: companies differ so much in size that a plan made for all of them might read the whole of a large one's table instead.
 * Records are asked outside whether they are deleted: inside, an index of a company's living ones can look as good as the key.
 */
const each = (sql: string, name: string) => `CROSS JOIN LATERAL (${sql} OFFSET 0) ${name}`;

/** The ways that lead from an offer to its buyers. */
const OFFER_WAYS = `offered AS (SELECT DISTINCT company_id, offer_id FROM asked),
  offered_groups AS (SELECT o.company_id, o.offer_id, x.buyer_group_id FROM offered o
    ${each('SELECT a.buyer_group_id FROM offer_buyer_groups a WHERE a.company_id = o.company_id AND a.offer_id = o.offer_id', 'x')}),
  living_groups AS (SELECT o.company_id, o.buyer_group_id, g.facts FROM (SELECT DISTINCT company_id, buyer_group_id FROM offered_groups) o
    ${each(
      `SELECT json_build_object(${own('group')}, 'used_up', u.cap) AS facts, t.deleted_at FROM buyer_groups t ${limitsJoin('buyer_group_id')} ${usedUpJoin('l', '0')}
      WHERE t.company_id = o.company_id AND t.id = o.buyer_group_id`,
      'g',
    )} WHERE g.deleted_at IS NULL),
  ways AS (SELECT o.company_id, o.offer_id, x.buyer_id, NULL::bigint AS buyer_group_id, NULL::json AS facts FROM offered o
      ${each('SELECT a.buyer_id FROM offer_buyers a WHERE a.company_id = o.company_id AND a.offer_id = o.offer_id', 'x')}
    UNION ALL
    SELECT o.company_id, o.offer_id, x.buyer_id, o.buyer_group_id, g.facts FROM offered_groups o JOIN living_groups g USING (company_id, buyer_group_id)
      ${each('SELECT m.buyer_id FROM buyer_group_members m WHERE m.company_id = o.company_id AND m.buyer_group_id = o.buyer_group_id', 'x')})`;

/**
 * One row for each buyer of each offer, with the places in `asked` whose number one of its lists holds: an offer that many ask for is read once.
 * The lists that hold a number are found first, by one probe for each living list of the company (as in db/suppression.ts).
 */
const OF_OFFERS = template(
  `WITH asked AS (SELECT * FROM unnest({places}::int[], {company_ids}::bigint[], {offer_ids}::bigint[], {numbers}::bigint[]) AS x(place, company_id, offer_id, number)),
  ${OFFER_WAYS},
  buyers_of AS (SELECT company_id, offer_id, buyer_id, bool_or(buyer_group_id IS NULL) AS direct,
    coalesce(json_agg(facts ORDER BY buyer_group_id) FILTER (WHERE buyer_group_id IS NOT NULL), '[]') AS groups FROM ways GROUP BY company_id, offer_id, buyer_id),
  holding AS MATERIALIZED (SELECT o.company_id, o.offer_id, x.id, x.name, array_agg(o.place) AS places FROM asked o
    ${each(
      `SELECT s.id, s.name FROM buyer_suppressions s WHERE s.company_id = o.company_id AND s.deleted_at IS NULL AND s.blocked > 0
      AND EXISTS (SELECT FROM buyer_suppression_numbers n WHERE n.company_id = o.company_id AND n.buyer_suppression_id = s.id AND n.number = o.number OFFSET 0)`,
      'x',
    )} GROUP BY o.company_id, o.offer_id, x.id, x.name),
  attached AS MATERIALIZED (SELECT b.company_id, b.offer_id, b.buyer_id, x.buyer_suppression_id FROM buyers_of b
    ${each(
      `SELECT a.buyer_suppression_id FROM buyer_suppression_buyers a
      WHERE a.company_id = b.company_id AND a.buyer_id = b.buyer_id AND a.buyer_suppression_id = ANY(ARRAY(SELECT DISTINCT id FROM holding))`,
      'x',
    )}),
  suppressed AS (SELECT a.company_id, a.offer_id, a.buyer_id, json_agg(json_build_object('id', h.id, 'name', h.name, 'places', h.places) ORDER BY h.id) AS lists
    FROM attached a JOIN holding h ON h.company_id = a.company_id AND h.offer_id = a.offer_id AND h.id = a.buyer_suppression_id
    GROUP BY a.company_id, a.offer_id, a.buyer_id)
  SELECT w.company_id::text, w.offer_id::text, coalesce(s.lists, '[]') AS lists, x.facts
    FROM buyers_of w LEFT JOIN suppressed s ON s.company_id = w.company_id AND s.offer_id = w.offer_id AND s.buyer_id = w.buyer_id
    ${each(
      `SELECT json_build_object(${own('buyer')}, 'used_up', u.cap,
        'current_conversion_revenue', ${CURRENT_REVENUE}, 'most_revenue', p.revenue, 'pays_at_dial', p.at_dial, 'epc', ${EPC}, 'last_call_at', l.last_call_at, 'display_service_number', ${DISPLAYED}, 'business_hours', ${BUSINESS_HOURS},
        'direct', w.direct, 'groups', w.groups) AS facts, t.deleted_at
      FROM buyers t ${limitsJoin('buyer_id')} ${openHoursJoin('h')} ${PAYS_JOIN} ${usedUpJoin('h', 'p.revenue')} WHERE t.company_id = w.company_id AND t.id = w.buyer_id`,
      'x',
    )} WHERE x.deleted_at IS NULL ORDER BY w.buyer_id`,
  { prepared: true },
);

/** A cap that is used up, as JSON has it. */
export type ReadCap = (Omit<UsedUpCap, 'resets_at'> & { resets_at: string | null }) | null;
type Read<Owner extends { used_up: UsedUpCap | null }> = Omit<Owner, 'used_up'> & {
  used_up: ReadCap;
};

interface Row {
  company_id: string;
  offer_id: string;
  lists: { id: number; name: string; places: number[] }[];
  facts: Read<Omit<Candidate, 'groups' | 'suppressed_by' | 'last_call_at'>> & {
    groups: Read<CandidateGroup>[];
    last_call_at: string | null;
  };
}

/** The buyers of offers by the place in `asked`, each once however many ways lead to it, in the order of their ids. Without those that are deleted. */
export async function loadCandidates(
  client: Executor,
  asked: readonly Asked[],
  now: Date,
): Promise<Map<number, Candidate[]>> {
  if (asked.length === 0) return new Map();
  const { rows } = await client.query(
    OF_OFFERS({
      places: asked.map((_, place) => place),
      company_ids: asked.map(({ company_id }) => company_id),
      offer_ids: asked.map(({ offer_id }) => offer_id),
      numbers: asked.map(({ caller_number }) => caller_number),
      now: now.toISOString(),
    }),
  );
  const offered = new Map<string, Offered[]>();
  for (const row of rows as Row[]) {
    const others = offered.get(offerKey(row));
    if (others) others.push(read(row));
    else offered.set(offerKey(row), [read(row)]);
  }
  return new Map(
    asked.map((one, place) => {
      const buyers = offered.get(offerKey(one)) ?? [];
      return [
        place,
        buyers.map(({ candidate, lists }) => ({
          ...candidate,
          suppressed_by: lists.get(place) ?? [],
        })),
      ];
    }),
  );
}

/** The buyers of one offer for one caller. */
export async function candidatesOf(
  db: Statements,
  offer_id: bigint | number | string,
  caller_number: bigint | number | string,
  now: Date,
): Promise<Candidate[]> {
  const asked = {
    company_id: String(db.company_id),
    offer_id: String(offer_id),
    caller_number: String(caller_number),
  };
  return (await loadCandidates(executorOf(db), [asked], now)).get(0)!;
}

const USED_UP = {
  buyer_id: template(
    `SELECT u.cap FROM buyers t ${limitsJoin('buyer_id')} ${openHoursJoin('h')} ${usedUpJoin('h', '{revenue}::numeric')} WHERE t.company_id = {company_id} AND t.id = {id}::bigint`,
    { prepared: true },
  ),
  buyer_group_id: template(
    `SELECT u.cap FROM buyer_groups t ${limitsJoin('buyer_group_id')} ${usedUpJoin('l', '{revenue}::numeric')} WHERE t.company_id = {company_id} AND t.id = {id}::bigint`,
    { prepared: true },
  ),
};

/** The cap that keeps a call from its owner now that may bring so many dollars; null when all have room. */
export async function readUsedUp(
  db: Statements,
  owner: CapOwner,
  { revenue, now }: { revenue: number; now: Date },
): Promise<UsedUpCap | null> {
  const [column, id] = Object.entries(owner)[0] as [keyof typeof USED_UP, bigint | number];
  const [row] = await db.query<{ cap: ReadCap }>(
    USED_UP[column]({ company_id: db.company_id, id, revenue, now: now.toISOString() }),
  );
  return capAt(row?.cap ?? null);
}

const offerKey = ({ company_id, offer_id }: Omit<Asked, 'caller_number'>) =>
  `${company_id}/${offer_id}`;

/** A buyer of an offer, and its suppression lists by the place whose number they hold. */
interface Offered {
  candidate: Omit<Candidate, 'suppressed_by'>;
  lists: Map<number, { id: number; name: string }[]>;
}

function read({ facts, lists: holding }: Row): Offered {
  const lists: Offered['lists'] = new Map();
  for (const { id, name, places } of holding)
    for (const place of places) lists.set(place, [...(lists.get(place) ?? []), { id, name }]);
  return {
    candidate: {
      ...dated(facts),
      last_call_at: instant(facts.last_call_at),
      groups: facts.groups.map(dated),
    },
    lists,
  };
}

const instant = (at: string | null): Date | null => (at === null ? null : new Date(at));

const dated = <Owner extends Read<{ used_up: UsedUpCap | null }>>(
  owner: Owner,
): Omit<Owner, 'used_up'> & { used_up: UsedUpCap | null } => ({
  ...owner,
  used_up: capAt(owner.used_up),
});

/** No window that ends makes room under a limit of 0. */
export const capAt = (cap: ReadCap): UsedUpCap | null =>
  cap && {
    ...cap,
    resets_at: cap.resets_at !== null && cap.limit > 0 ? new Date(cap.resets_at) : null,
  };
