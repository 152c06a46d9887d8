import type { Schemas } from '../../platform/contract/contract';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { NumberFields } from './add-number';

export type SentFields = Omit<Schemas['PhoneNumberFields'], 'serializer'>;

export const DEFAULTS = { country: 'US', toll_free: false, forward_type: 'offer_id' } as const;

type References = Pick<NumberFields, 'offer_id' | 'buyer_id' | 'traffic_source_id'>;

/**
 * Locks the records that a number refers to (offer, buyer, traffic source), and returns their ids.
 */
export async function lockReferences(
  db: Db,
  { offer_id, buyer_id, traffic_source_id }: SentFields,
): Promise<References> {
  const resolve = async (
    table: 'offers' | 'buyers' | 'traffic_sources',
    field: keyof References,
    reference: Reference | null | undefined,
  ) => {
    if (reference === undefined) return {};
    if (reference === null) return { [field]: null };
    return { [field]: (await resolveReferences(db, table, [reference], { field }))[0]! };
  };
  return {
    ...(await resolve('offers', 'offer_id', offer_id)),
    ...(await resolve('buyers', 'buyer_id', buyer_id)),
    ...(await resolve('traffic_sources', 'traffic_source_id', traffic_source_id)),
  };
}

export function toColumns(
  { name, forward_type, external_record_id }: SentFields,
  references: References,
): NumberFields {
  return {
    ...references,
    ...(name !== undefined && { name }),
    ...(forward_type !== undefined && { forward_type }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

/** Throws 422 when a number forwards to a buyer and names none. */
export function requireBuyer({
  forward_type,
  buyer_id,
}: {
  forward_type?: string;
  buyer_id?: bigint | null;
}): void {
  if (forward_type === 'buyer_id' && !buyer_id)
    throw HttpProblem.field(
      'buyer_id',
      'missing_field',
      'must name a buyer while forward_type is buyer_id',
    );
}
