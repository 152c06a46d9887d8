import { contract, facets, type Schemas } from '../../platform/contract/contract';
import { findNamed } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { readRecord } from '../../api/records/record';
import { buyer } from './buyers-columns';

type Fields = Schemas['BuyerFields'];

/** Identifiers belong to one buyer and are never copied. */
const IDENTITY = new Set(['user_buyer_id', 'external_record_id']);

const writable = Object.keys(facets(contract.document.components.schemas.BuyerFields!).properties);
const readable = new Set(
  Object.keys(facets(contract.document.components.schemas.Buyer!).properties),
);

/**
 * Fields that are read and written under one name. Fields of the current conversion are copied as
 * part of buyer_conversions_schedule.
 */
const COPIED = writable.filter(
  (name) => readable.has(name) && !IDENTITY.has(name) && !name.startsWith('current_conversion_'),
);

type CopyRequest = Pick<Schemas['BuyerCreate'], 'copy_another_buyer' | 'copy_buyer_id'>;

const YES = /^(1|true|yes|on)$/i;
const NO = /^(|0|false|no|off)$/i;

/**
 * The reference to the buyer to copy, and the field that has it; undefined when none is copied.
 * Throws 422 when the two fields do not name one buyer.
 */
function parseCopySource({ copy_another_buyer: flag, copy_buyer_id: buyerReference }: CopyRequest) {
  const flagText = String(flag ?? '').trim();
  if (YES.test(flagText) && buyerReference)
    return { reference: buyerReference, field: 'copy_buyer_id' };
  if (NO.test(flagText) && (!buyerReference || flagText !== '')) return undefined;
  if (flagText === '')
    throw HttpProblem.field(
      'copy_buyer_id',
      'invalid_value',
      'is only for requests with copy_another_buyer as true',
    );
  if (YES.test(flagText))
    throw HttpProblem.field(
      'copy_buyer_id',
      'missing_field',
      'must name the buyer to copy, as copy_another_buyer is true',
    );
  if (!buyerReference) return { reference: flagText, field: 'copy_another_buyer' };
  throw HttpProblem.field(
    'copy_another_buyer',
    'invalid_value',
    'must be true to copy the buyer that copy_buyer_id names',
  );
}

/**
 * The settings of the buyer to copy, as fields of a request; empty when none is copied. Throws 422
 * on a field that names no buyer.
 */
export async function loadCopiedFields(db: Db, request: CopyRequest, now: Date): Promise<Fields> {
  const sourceBuyer = parseCopySource(request);
  if (!sourceBuyer) return {};
  const id = await findNamed(db, 'buyers', sourceBuyer);
  const text = await readRecord({ db, now, projection: buyer.projection }, String(id));
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
