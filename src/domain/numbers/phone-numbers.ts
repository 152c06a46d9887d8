import { numberFacts, ownNumberFacts } from '../../platform/carriers/number-facts';
import type { Schemas } from '../../platform/contract/contract';
import type { Reference } from '../../data/records';
import { parseTelephone } from '../../data/references';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { notFound, HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { callerNumber } from '../../data/phone/caller-number';
import { addNumber, type NumberFields } from './add-number';
import { buyAny, buyRequested, type PurchaseContext } from './buy-number';
import { findNumber } from './find-number';
import { importNumbers, readNumberRows } from './import-numbers';
import { releaseNumber } from './release-number';
import { DEFAULTS, searchNumbers, parseSearch } from './search-numbers';

// Telephone numbers that companies buy from a carrier, and the offer or buyer that gets their
// calls. Table `numbers` has the numbers of a company; `number_lookups` has the owner of each
// number of the installation. Locks: offer, buyer, traffic source, number; a purchase first takes
// the advisory lock of its number.

const phoneNumber = noun({
  schema: 'PhoneNumber',
  model: 'Number',
  singular: 'number',
  plural: 'numbers',
  path: 'phone_numbers',
  names: { list: 'listPhoneNumbers' },
  search:
    `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.phone_number::text, '') || E'\\n' || ` +
    `coalesce(t.external_record_id, ''))`,
  joins: {
    o: 'LEFT JOIN offers o ON o.company_id = t.company_id AND o.id = t.offer_id',
    b: 'LEFT JOIN buyers b ON b.company_id = t.company_id AND b.id = t.buyer_id',
    s: 'LEFT JOIN traffic_sources s ON s.company_id = t.company_id AND s.id = t.traffic_source_id',
  },
  computed: {
    phone_number: `'+' || t.phone_number`,
    number: `'+' || t.phone_number`,
    sandbox: `t.carrier = 'sandbox'`,
    offer: 'o.name',
    buyer: 'coalesce(b.name, b.number)',
    traffic_source: 's.name',
  },
  orders: { phone_number: { sql: 't.phone_number', type: 'bigint' } },
  filters: {
    country: 't.country = upper({country})',
    toll_free: { cases: { true: 't.toll_free', false: 'NOT t.toll_free' } },
    number: 't.phone_number = {number}::bigint',
  },
  references: ['offer_id', 'buyer_id', 'traffic_source_id'],
});
export const { projection } = phoneNumber;

export const phoneNumbers = (deps: Deps) => {
  const { clock, carrier, queue } = deps;
  const { createPhoneNumber, ...handlers } = phoneNumber.handlers(deps, {
    reads: ['forward_type', 'buyer_id'],
    unsaved: { ...DEFAULTS, carrier: carrier.name },
    columns: ({ before, fields, references }) => {
      if (before) requireBuyer({ ...before, ...fields, ...references });
      return {};
    },
    insert: ({ tx, fields, references, now }) =>
      addOrBuyNumber(tx, fields, references, { carrier, outside: tx.outside, now }),
    deletion: {
      remove: ({ tx, id, now }) => releaseNumber(tx, id, { carrier, queue, now }),
    },
  });
  return {
    ...handlers,
    listPhoneNumbers: async ({ query, db }) => {
      const number = await callerNumber(db, query.number, 'number');
      return phoneNumber.list({ ...query, number }, { db, now: clock() });
    },
    importPhoneNumbers: async ({ body, upload, db }) => {
      const file = await readNumberRows(body, upload);
      const numbers = { carrier: carrier.name, now: clock() };
      const imported = await db.transaction((tx) => importNumbers(tx, file, numbers));
      return {
        status: 200,
        success: true,
        errors: {},
        ...imported,
        metadata: { root: 'rejected' },
      };
    },
    searchPhoneNumbers: ({ query, db }) => searchNumbers(db, query, { carrier, now: clock() }),
    createPhoneNumber: (call) =>
      createPhoneNumber({ ...call, body: { ...call.query, ...call.body } }),
    showPhoneNumber: async (call) => handlers.showPhoneNumber(await resolveNumberId(call)),
    updatePhoneNumber: async (call) => handlers.updatePhoneNumber(await resolveNumberId(call)),
    deletePhoneNumber: async (call) => handlers.deletePhoneNumber(await resolveNumberId(call)),
  } satisfies Partial<Handlers>;
};

type CreateFields = Partial<Omit<Schemas['PhoneNumberCreate'], 'serializer'>>;
type References = Pick<NumberFields, 'offer_id' | 'buyer_id' | 'traffic_source_id'>;

async function addOrBuyNumber(
  db: Db,
  body: CreateFields,
  references: References,
  buying: PurchaseContext,
): Promise<bigint> {
  const { requested_number, number: ownNumber, country, toll_free, prefix, ...fields } = body;
  const { name, forward_type, external_record_id } = fields;
  const columns = {
    name,
    external_record_id,
    ...(forward_type && { forward_type }),
    ...references,
  };
  requireBuyer({ ...DEFAULTS, buyer_id: null, ...columns });
  if (ownNumber !== undefined) {
    if (requested_number !== undefined || prefix)
      throw HttpProblem.field(
        'number',
        'conflicting_fields',
        'must not be given together with requested_number or prefix: nothing is bought',
      );
    const phoneNumber = `+${await callerNumber(db, ownNumber, 'number')}`;
    const number = { ...ownNumberFacts(phoneNumber), carrier: buying.carrier.name };
    const added = { ...number, ...columns, carrier_number_id: null };
    return addNumber(db, added, buying.now, 'number');
  }
  if (requested_number === undefined)
    return buyAny(db, parseSearch({ country, toll_free, prefix }), columns, buying);
  const digits = await callerNumber(db, requested_number, 'requested_number');
  const number = numberFacts(`+${digits}`, country);
  if (!number)
    throw HttpProblem.field(
      'requested_number',
      'invalid_value',
      `must be a number of ${country ?? 'US, CA, GB or AU'}, as a search returns it`,
    );
  return buyRequested(db, number, columns, buying);
}

/** Throws 422 when a number forwards to a buyer and names none. */
function requireBuyer({
  forward_type,
  buyer_id,
}: {
  forward_type?: string;
  buyer_id?: unknown;
}): void {
  if (forward_type === 'buyer_id' && !buyer_id)
    throw HttpProblem.field(
      'buyer_id',
      'missing_field',
      'must name a buyer while forward_type is buyer_id',
    );
}

/** Sets the id of the number where the URL has the telephone number instead. */
async function resolveNumberId<C extends { params: { id: Reference }; db: Db }>(
  call: C,
): Promise<C> {
  const phoneNumber = parseTelephone(String(call.params.id));
  if (phoneNumber === undefined) return call;
  const id = await findNumber(call.db, phoneNumber);
  if (id === undefined) throw notFound();
  return { ...call, params: { ...call.params, id: String(id) } };
}
