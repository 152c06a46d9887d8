import type { Db } from '../db/tenant';
import { CAPS, METRICS, RESETS, type CapOwner, type Interval, type LimitName } from './caps';

/** The next local hour, day and month of a zone, as instants: a day of 23 or 25 hours is a day. */
export const NEXT: Record<Exclude<Interval, 'total'>, (zone: string) => string> = {
  hourly: (zone) => `date_trunc('hour', {now}::timestamptz, ${zone}) + interval '1 hour'`,
  daily: (zone) =>
    `(date_trunc('day', {now}::timestamptz AT TIME ZONE ${zone}) + interval '1 day') AT TIME ZONE ${zone}`,
  monthly: (zone) =>
    `(date_trunc('month', {now}::timestamptz AT TIME ZONE ${zone}) + interval '1 month') AT TIME ZONE ${zone}`,
};

export const ownerOf = (owner: CapOwner) =>
  'buyer_id' in owner
    ? { column: 'buyer_id', id: owner.buyer_id }
    : { column: 'buyer_group_id', id: owner.buyer_group_id };

export interface LimitChanges {
  /** Limits to set, by column; null lifts one. */
  limits: Partial<Record<LimitName | 'concurrency_cap_limit', number | null>>;
  /** IANA zone of the owner when it changes. Running windows then end at the new zone's next hour, day and month; nothing is forgotten. */
  zone?: string | undefined;
  reset_totals?: boolean | undefined;
  now: Date;
}

/** Changes an owner's caps in one statement; does nothing when nothing changes. */
export async function changeLimits(
  db: Db,
  owner: CapOwner,
  { limits, zone, reset_totals, now }: LimitChanges,
): Promise<void> {
  const { column, id } = ownerOf(owner);
  const values: unknown[] = [db.company_id, id, now.toISOString()];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const sets = Object.entries(limits).map(
    ([name, value]) => `${limitColumn(name)} = ${bind(value)}`,
  );
  if (zone !== undefined) {
    const at = `${bind(zone)}::text`;
    sets.push(`zone = ${at}`);
    for (const [interval, resets_at] of Object.entries(RESETS)) {
      const next = NEXT[interval as keyof typeof NEXT](at).replaceAll('{now}', '$3');
      sets.push(
        `${resets_at} = CASE WHEN ${resets_at} > $3::timestamptz THEN ${next} ELSE ${resets_at} END`,
      );
    }
  }
  // What is held now and given back later is not taken off the new totals.
  if (reset_totals)
    sets.push(
      ...METRICS.map((metric) => `${metric}_total_used = 0`),
      'totals_reset_at = $3::timestamptz',
    );
  if (sets.length === 0) return;
  await db.query({
    text: `UPDATE call_limits SET ${sets.join(', ')} WHERE company_id = $1 AND ${column} = $2 AND $3::timestamptz IS NOT NULL`,
    values,
  });
}

/** Gives a new owner its caps, with nothing used. Only the columns that are set are written: the others are most of the row. */
export async function openLimits(
  db: Db,
  owner: CapOwner,
  { zone, limits }: Pick<LimitChanges, 'limits'> & { zone: string },
): Promise<void> {
  const { column, id } = ownerOf(owner);
  const set = Object.entries(limits).filter(([, value]) => value !== null);
  const columns = ['company_id', column, 'zone', ...set.map(([name]) => limitColumn(name))];
  const values = [db.company_id, id, zone, ...set.map(([, value]) => value)];
  await db.query({
    text: `INSERT INTO call_limits (${columns.join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    values,
  });
}

/** Limits come from fields of the contract; the name is checked all the same, since it goes into SQL. */
function limitColumn(name: string): string {
  if (name !== 'concurrency_cap_limit' && !CAPS.some(({ limit }) => limit === name))
    throw new Error(`no limit is called ${name}`);
  return name;
}

/** The limits among the fields of a request. */
export function limitsIn(body: Record<string, unknown>): LimitChanges['limits'] {
  const names = [...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit' as const];
  return Object.fromEntries(
    names
      .filter((name) => body[name] !== undefined)
      .map((name) => [name, body[name] as number | null]),
  );
}
