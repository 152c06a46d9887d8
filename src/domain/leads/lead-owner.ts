import { resolveReferences, type Reference, type Table } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { ianaName } from '../../platform/time/zone';
import { LOAD_OWNER } from './queries/leads';
import { FIND_LEAD } from './queries/matching-leads';

export interface Owner {
  /** For a schedule: set only when the request names an offer in place of the schedule's own. */
  offer_id: bigint | null;
  schedule_id: bigint | null;
  /** The traffic source whose token was sent; absent or null for any other token. */
  traffic_source_id?: bigint | null;
  /** ISO 3166 code: numbers without country code are read as numbers of this country. */
  country: string;
  /** IANA zone of leads whose own zone is unknown. */
  zone: string;
  contact_countries: readonly string[] | null;
  contact_prefixes: readonly string[];
}

interface NamedOwner {
  offer_id?: Reference | null;
  schedule_id?: Reference | null;
}

/** The offer or schedule that a request names instead of sending its token. Throws 422. */
export async function findOwner(
  db: Db,
  { offer_id: offer = null, schedule_id: schedule = null }: NamedOwner,
): Promise<Owner> {
  if (offer === null && schedule === null)
    throw HttpProblem.field(
      'schedule_id',
      'missing_field',
      'must be given, or offer_id: where the lead goes',
    );
  const findId = async (table: Table, reference: Reference | null, field: string) =>
    reference === null ? null : (await resolveReferences(db, table, [reference], { field }))[0]!;
  const offerId = await findId('offers', offer, 'offer_id');
  const scheduleId = await findId('schedules', schedule, 'schedule_id');
  const [row] = await db.sql(LOAD_OWNER, { offer_id: offerId, schedule_id: scheduleId });
  const { zone, ...policy } = row!;
  return {
    offer_id: offerId,
    schedule_id: scheduleId,
    ...policy,
    zone: ianaName(zone ?? '') ?? 'UTC',
  };
}

/** The id of the lead of a number at an owner: the live lead, else the latest one. */
export async function findLead(
  { sql }: Pick<Db, 'sql'>,
  { offer_id, schedule_id }: Pick<Owner, 'offer_id' | 'schedule_id'>,
  callerNumber: number,
): Promise<bigint | undefined> {
  const [lead] = await sql(FIND_LEAD, { offer_id, schedule_id, caller_number: callerNumber });
  return lead && BigInt(lead.id);
}
