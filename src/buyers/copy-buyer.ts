import { contract, facets, type Schemas } from '../contract';
import { findNamed, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { readRecord } from '../http/record';
import { projection } from './buyers-columns';

type Fields = Schemas['BuyerFields'];

/** Identifiers belong to one buyer and are never copied. */
const IDENTITY = new Set(['user_buyer_id', 'external_record_id']);

const writable = Object.keys(facets(contract.document.components.schemas.BuyerFields!).properties);
const readable = new Set(
  Object.keys(facets(contract.document.components.schemas.Buyer!).properties),
);

/**
 * Fields that are read and written under the same name. Those of the current conversion are copied
 * with buyer_conversions_schedule.
 */
const COPIED = writable.filter(
  (name) => readable.has(name) && !IDENTITY.has(name) && !name.startsWith('current_conversion_'),
);

/**
 * The settings of another buyer, as fields of a request. Throws 422 on copy_another_buyer when
 * there is no such buyer.
 */
export async function copyOf(db: Db, reference: Reference, now: Date): Promise<Fields> {
  const id = await findNamed(db, 'buyers', { reference, field: 'copy_another_buyer' });
  const text = await readRecord({ db, now, projection }, String(id));
  const source = JSON.parse(text) as Schemas['Buyer'] & Record<string, unknown>;
  const copied = Object.fromEntries(
    COPIED.map((name) => [name, source[name]]).filter(([, value]) => value !== null),
  ) as Fields;
  return {
    ...copied,
    record_token_filter_list: source.record_token_filter_data ?? [],
    record_token_additional_list: source.record_token_additional_data?.join(',') || null,
  };
}
