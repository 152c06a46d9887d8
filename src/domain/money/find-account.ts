import { findFilterRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';

/** The account of a buyer or of a traffic source; the other is null. */
export interface Account {
  buyer_id: bigint | null;
  traffic_source_id: bigint | null;
}

interface AccountReference {
  buyer_id?: Reference | null | undefined;
  traffic_source_id?: Reference | null | undefined;
}

/**
 * Finds the account that a request names, including that of a deleted record, which may still owe
 * or be owed money. Throws 422 unless the request names exactly one.
 */
export async function findAccount(
  db: Db,
  { buyer_id: buyer, traffic_source_id: source }: AccountReference,
): Promise<Account> {
  const hasBuyer = buyer !== undefined && buyer !== null;
  const hasSource = source !== undefined && source !== null;
  if (hasBuyer && hasSource)
    throw HttpProblem.field(
      'traffic_source_id',
      'invalid_value',
      'must be left out where buyer_id is given: an account belongs to one of them',
    );
  if (!hasBuyer && !hasSource)
    throw HttpProblem.field(
      'buyer_id',
      'missing_field',
      'must be given, or traffic_source_id: they say whose account it is',
    );
  const of = { buyer_id: null, traffic_source_id: null };
  if (hasBuyer) return { ...of, buyer_id: await findRecordId(db, 'buyers', buyer, 'buyer_id') };
  return {
    ...of,
    traffic_source_id: await findRecordId(db, 'traffic_sources', source!, 'traffic_source_id'),
  };
}

const findRecordId = async (
  db: Db,
  table: 'buyers' | 'traffic_sources',
  reference: Reference,
  field: string,
): Promise<bigint> => BigInt(await findFilterRecord(db, table, { reference, field }));
