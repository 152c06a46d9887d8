import { HttpProblem } from '../../errors';
import { ianaName } from '../../time/zone';
import { resolveReferences, type Reference } from '../../db/records';
import type { Db } from '../../db/tenant';

/** Whom a lead is submitted to. */
export interface Owner {
  /** Beside a schedule only when it was named: the schedule's own is the schedule's to tell. */
  offer_id: bigint | null;
  schedule_id: bigint | null;
  /** Two letters: numbers without country code are read as this country's. */
  country: string;
  /** IANA zone of leads whose own cannot be told. */
  zone: string;
}

/** SQL of the leads (l) of an owner, whose id is $2. */
export const ofOwner = ({ schedule_id }: Pick<Owner, 'schedule_id'>): string =>
  schedule_id === null
    ? 'l.company_id = $1 AND l.offer_id = $2 AND l.schedule_id IS NULL'
    : 'l.company_id = $1 AND l.schedule_id = $2';
export const ownerId = ({
  schedule_id,
  offer_id,
}: Pick<Owner, 'schedule_id' | 'offer_id'>): bigint => (schedule_id ?? offer_id)!;

/** The offer or schedule that a server names instead of showing its token; refuses with 422. */
export async function namedOwner(
  db: Db,
  {
    offer_id = null,
    schedule_id = null,
  }: { offer_id?: Reference | null; schedule_id?: Reference | null },
): Promise<Owner> {
  if (offer_id === null && schedule_id === null)
    throw HttpProblem.field('schedule_id', 'must be given, or offer_id: where the lead goes');
  const one = async (table: 'offers' | 'schedules', name: Reference | null, field: string) =>
    name === null ? null : (await resolveReferences(db, table, [name], { field }))[0]!;
  const offer = await one('offers', offer_id, 'offer_id');
  const schedule = await one('schedules', schedule_id, 'schedule_id');
  const [row] = await db.query<{ country: string; zone: string | null }>({
    text: `SELECT c.country, coalesce(s.time_zone, o.time_zone) AS zone FROM companies c
      LEFT JOIN schedules s ON s.company_id = c.id AND s.id = $3::bigint LEFT JOIN offers o ON o.company_id = c.id AND o.id = $2::bigint WHERE c.id = $1`,
    values: [db.company_id, offer, schedule],
  });
  return {
    offer_id: offer,
    schedule_id: schedule,
    country: row!.country,
    zone: ianaName(row!.zone ?? '') ?? 'UTC',
  };
}

/** The lead of a number at an owner: the live one, else the last. */
export async function leadOf(
  db: Db,
  owner: Pick<Owner, 'offer_id' | 'schedule_id'>,
  number: number,
): Promise<bigint | undefined> {
  const text = `SELECT l.id FROM leads l WHERE ${ofOwner(owner)} AND l.caller_number = $3::bigint AND l.deleted_at IS NULL ORDER BY l.is_live DESC, l.id DESC LIMIT 1`;
  const [row] = await db.query<{ id: bigint | string }>({
    text,
    values: [db.company_id, ownerId(owner), number],
  });
  return row && BigInt(row.id);
}
