import type { Held } from '../buyers/caps';
import { holdMoreOfSource, reserveUsage, type Reserved } from '../buyers/reserve-caps';
import type { Statements } from '../db/tenant';
import { refusedReservations } from '../telemetry/metrics';
import type { Member, RouteFacts } from './engine/route';
import type { SourceCaps } from './engine/source';
import { readSourceFault } from './used-up-cap';

/** Caps of a source that were reserved for a call. */
interface SourceReservation extends Reserved {
  owner: { kind: 'traffic_source'; id: number };
  pending: Held;
  /** None for a call that no buyer gets. */
  slots: 0 | 1;
}

/** What is reserved; or, where another call was faster, what now keeps this one from buyers. */
type OfSource = { reserved: SourceReservation[] } | Pick<RouteFacts, 'refused' | 'source_buyers'>;

/**
 * Reserves the caps of the call's source, after those of the buyers that it goes to. A call that has
 * taken its part before takes the dollars that these buyers pay beyond it.
 */
export async function reserveSource(
  db: Statements,
  facts: RouteFacts,
  members: readonly Member[],
): Promise<OfSource> {
  const { source_caps, now } = facts;
  if (!source_caps) return { reserved: [] };
  if (source_caps.call_id !== undefined) return holdMore(db, facts, source_caps, members);
  const { traffic_source_id: id, revenue } = source_caps;
  const { slots, ...pending } = takenOfSource(members.length > 0, revenue);
  const reserved = await reserveUsage(db, {
    owner: { traffic_source_id: id },
    usage: { attempt: 1 },
    concurrency: slots,
    hold: pending,
    calls: 1,
    now,
  });
  if (reserved)
    return { reserved: [{ ...reserved, owner: { kind: 'traffic_source', id }, pending, slots }] };
  const refused = await readSourceFault(db, id, { revenue, now });
  refusedReservations.inc({ cap: String(refused?.details?.cap ?? 'none') });
  return { refused };
}

/** Of buyers that pay more than the source has room for, none can get the call. */
async function holdMore(
  db: Statements,
  { source_buyers, now }: RouteFacts,
  { traffic_source_id: id, call_id }: SourceCaps,
  members: readonly Member[],
): Promise<OfSource> {
  const revenue = Math.max(0, ...members.map(({ buyer }) => buyer.most_revenue));
  const held = await holdMoreOfSource(db, { id, call_id: call_id!, revenue, now });
  if (held === undefined) return { reserved: [] };
  const fault = await readSourceFault(db, id, { revenue: revenue - held, now });
  // A cap that had no room a moment ago may have been raised: the call tries again.
  if (!fault) return { source_buyers };
  refusedReservations.inc({ cap: String(fault.details?.cap ?? 'none') });
  const { blocked = new Set<number>(), allowed } = source_buyers ?? {};
  return { source_buyers: { blocked, allowed, room: { dollars: held, fault } } };
}

/** What a call takes of the caps of its source. One that no buyer gets is over at once. */
export const takenOfSource = (has_buyer: boolean, revenue: number): Held & { slots: 0 | 1 } =>
  has_buyer
    ? { connections: 1, conversions: 1, revenue, slots: 1 }
    : { connections: 0, conversions: 0, revenue: 0, slots: 0 };
