import { candidateOf, groupOf, type Candidate, type UsedUpCap } from './engine/eligibility';
import { METRICS } from '../buyers/caps';
import { NOW, openHoursJoin } from '../buyers/cap-columns';
import {
  freshConfig,
  keptConfig,
  plainCandidates,
  type Config,
  type Source,
} from './offer-snapshot';
import { capAt, epcSql, PAYS_JOIN, usedUpJoin, type ReadCap } from './queries/candidates';
import { template } from '../db/statement';
import type { Statements } from '../db/tenant';

// How the buyers of an offer stand as a call comes: what is set up of them (offer-config.ts), and what calls have changed. Of the caps only rows are read
// that were written since they were last read: `since` is the oldest transaction that was then not over, and of none younger everything was seen.

/** The longest time between two calls to a buyer that an offer can ask for. */
const LONGEST_SPACING = "interval '1 day'";

const HOURLY = METRICS.map((metric) => `${metric}_hourly_limit`);
const HOURS = HOURLY.map(
  (name) => `CASE WHEN l.buyer_id IS NULL THEN l.${name} ELSE o.${name} END AS ${name}`,
).join(', ');

/** How many transactions have changed what is set up in the company; triggers count them. */
const CHANGED = `(SELECT coalesce(sum(n), 0)::text FROM routing_changes WHERE company_id = {company_id}) AS changes`;
const CHANGES = template(`SELECT ${CHANGED}`, { prepared: true });

const STANDING = template(
  `WITH holding AS MATERIALIZED (SELECT x.place, s.id, s.name FROM unnest({numbers}::bigint[]) WITH ORDINALITY AS x(number, place)
    JOIN buyer_suppressions s ON s.company_id = {company_id} AND s.deleted_at IS NULL AND s.blocked > 0
      AND EXISTS (SELECT FROM buyer_suppression_numbers n WHERE n.company_id = {company_id} AND n.buyer_suppression_id = s.id AND n.number = x.number OFFSET 0))
  SELECT ${CHANGED}, pg_snapshot_xmin(pg_current_snapshot())::text AS since,
    coalesce((SELECT json_agg(json_build_object('limit_id', l.id, 'cap', u.cap, 'last_call_at', l.last_call_at))
      FROM call_limits l CROSS JOIN LATERAL (SELECT l.company_id, l.buyer_id AS id) t ${openHoursJoin('o')} CROSS JOIN LATERAL (SELECT ${HOURS}) h ${PAYS_JOIN}
        ${usedUpJoin('h', 'p.revenue')}
      WHERE l.company_id = {company_id} AND l.id = ANY({limit_ids}::bigint[]) AND ({since}::xid8 IS NULL OR age(l.xmin) <= age({since}::xid8::xid))
        AND ({since}::xid8 IS NOT NULL OR u.cap IS NOT NULL OR l.last_call_at > ${NOW} - ${LONGEST_SPACING})), '[]') AS caps,
    coalesce((SELECT json_agg(x) FROM (SELECT h.place, a.buyer_id, json_agg(json_build_object('id', h.id, 'name', h.name) ORDER BY h.id) AS lists FROM holding h
      CROSS JOIN LATERAL (SELECT a.buyer_id FROM buyer_suppression_buyers a WHERE a.company_id = {company_id} AND a.buyer_suppression_id = h.id OFFSET 0) a
      GROUP BY h.place, a.buyer_id) x), '[]') AS suppressed`,
  { prepared: true },
);

interface StandingRow {
  changes: string;
  since: string;
  caps: { limit_id: number; cap: ReadCap; last_call_at: string | null }[];
  suppressed: { place: number; buyer_id: number; lists: Candidate['suppressed_by'] }[];
}

/** What is known of caps in one minute: windows end at full ones. */
interface Standing {
  /** Null before the first read. */
  since: bigint | null;
  /** Of groups by their row of caps; null where none is used up. */
  full: Map<number, UsedUpCap | null>;
  plain: readonly Candidate[];
  /** As last read, without what is read for each call. An array that was handed out is left as it is. */
  current: readonly Candidate[];
}

const kept_standings = new WeakMap<Config, Map<number, Standing>>();
/** Calls come now; who asks for an explanation may ask for any time. */
const MOST_MINUTES = 2;

function standingOf(config: Config, now: Date): Standing {
  const minute = Math.floor(now.getTime() / 60_000);
  const standings = kept_standings.get(config) ?? new Map<number, Standing>();
  kept_standings.set(config, standings);
  const known = standings.get(minute);
  if (known) return known;
  const plain = plainCandidates(config, now);
  const standing: Standing = { since: null, full: new Map(), plain, current: plain };
  standings.set(minute, standing);
  if (standings.size > MOST_MINUTES) standings.delete(standings.keys().next().value!);
  return standing;
}

const EPC = template(
  `SELECT t.id::float8 AS id, (${epcSql})::float8 AS epc FROM buyers t WHERE t.company_id = {company_id} AND t.id = ANY({ids}::bigint[])`,
  {
    prepared: true,
  },
);

export interface Callers {
  source: Source;
  /** E.164 without the plus; null when it is withheld. */
  numbers: readonly (number | null)[];
  now: Date;
}

/** The buyers of an offer, or the one that a number forwards to, for each of some callers: everything that decides who may have their calls now. */
export async function routingCandidates(
  db: Statements,
  { source, numbers, now }: Callers,
): Promise<(readonly Candidate[])[]> {
  const kept = keptConfig(db, source);
  const looked = kept && (await readStanding(db, kept, { numbers, now }));
  const is_known = looked?.changes === kept?.changes && looked !== undefined;
  const config = is_known
    ? kept!
    : await freshConfig(db, source, looked?.changes ?? (await readChanges(db)));
  const { standing, suppressed } = is_known
    ? looked
    : await readStanding(db, config, { numbers, now });
  const earned = await earnedBy(db, config.by_epc, now);
  const common =
    earned.size === 0
      ? standing.current
      : standing.current.map((one) =>
          earned.has(one.id) ? candidateOf(one, { epc: earned.get(one.id)! }) : one,
        );
  return numbers.map((_, place) => {
    const lists = new Map(
      suppressed
        .filter((each) => each.place === place + 1)
        .map((each) => [each.buyer_id, each.lists]),
    );
    return lists.size === 0
      ? common
      : common.map((one) =>
          lists.has(one.id) ? candidateOf(one, { suppressed_by: lists.get(one.id)! }) : one,
        );
  });
}

/** Reads what has been written since this was last read, and answers what is known now. */
async function readStanding(
  db: Statements,
  config: Config,
  { numbers, now }: Omit<Callers, 'source'>,
) {
  const standing = standingOf(config, now);
  const { limit_ids } = config;
  const { since } = standing;
  const asked = {
    limit_ids,
    since: since === null ? null : String(since),
    numbers: numbers.map((number) => number ?? 0),
  };
  const [row] = await db.query<StandingRow>(
    STANDING({ ...asked, company_id: db.company_id, now: now.toISOString() }),
  );
  const { caps, changes, suppressed } = row!;
  const seen = BigInt(row!.since);
  // Somebody who has asked at the same time may have seen more than we, and been answered before.
  if (standing.since === null || seen >= standing.since) {
    if (since === null) Object.assign(standing, { full: new Map(), current: standing.plain });
    take(config, standing, caps);
    standing.since = seen;
  }
  return { standing, changes, suppressed };
}

/** Makes only those candidates anew of which there is something new to say: at most calls that is one of a thousand. */
function take(config: Config, standing: Standing, rows: StandingRow['caps']): void {
  const current = [...standing.current];
  const changed = new Set<number>();
  for (const { limit_id, cap, last_call_at } of rows) {
    const place = config.places.get(limit_id);
    if (place !== undefined)
      current[place] = candidateOf(current[place]!, {
        used_up: capAt(cap),
        last_call_at: last_call_at === null ? null : new Date(last_call_at),
      });
    else if (cap !== null || standing.full.get(limit_id)) changed.add(limit_id);
    if (place === undefined) standing.full.set(limit_id, capAt(cap));
  }
  if (changed.size > 0) {
    const groups = new Map(
      config.groups.map(({ limit_id, group }) => [
        group.id,
        groupOf(group, standing.full.get(limit_id) ?? null),
      ]),
    );
    const ids = new Set(
      config.groups.flatMap(({ limit_id, group }) => (changed.has(limit_id) ? [group.id] : [])),
    );
    current.forEach((one, n) => {
      if (one.groups.some(({ id }) => ids.has(id)))
        current[n] = candidateOf(one, { groups: one.groups.map(({ id }) => groups.get(id)!) });
    });
  }
  standing.current = current;
}

const readChanges = async (db: Statements): Promise<string> =>
  (await db.query<{ changes: string }>(CHANGES({ company_id: db.company_id })))[0]!.changes;

async function earnedBy(
  db: Statements,
  ids: readonly number[],
  now: Date,
): Promise<Map<number, number | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<{ id: number; epc: number | null }>(
    EPC({ company_id: db.company_id, ids, now: now.toISOString() }),
  );
  return new Map(rows.map(({ id, epc }) => [id, epc]));
}
