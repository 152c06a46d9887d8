import { numberFacts } from '../../platform/carriers/number-facts';
import type { Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions, type Reference } from '../../data/records';
import { parseTelephone } from '../../data/references';
import type { Db } from '../../data/db';
import { changedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { notFound, HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { callerNumber } from '../../data/phone/caller-number';
import type { NumberFields } from './add-number';
import { buyAny, buyRequested, type PurchaseContext } from './buy-number';
import { findNumber } from './find-number';
import {
  toColumns,
  DEFAULTS,
  lockReferences,
  requireBuyer,
  type SentFields,
} from './number-fields';
import { releaseNumber } from './release-number';
import { searchNumbers, parseSearch } from './search-numbers';
import { type SortKey } from '../../data/projection/list-statements';

// Telephone numbers that companies buy from a carrier, and the offer or buyer that gets their
// calls. Table `numbers` has the numbers of a company; `number_lookups` has the owner of each
// number of the installation. Locks: offer, buyer, traffic source, number; a purchase first takes
// the advisory lock of its number.

export const projection = {
  schema: 'PhoneNumber',
  singular: 'number',
  plural: 'numbers',
  fulltext:
    `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.phone_number::text, '') || E'\\n' || ` +
    `coalesce(t.external_record_id, ''))`,
  joins: {
    o: 'LEFT JOIN offers o ON o.company_id = t.company_id AND o.id = t.offer_id',
    b: 'LEFT JOIN buyers b ON b.company_id = t.company_id AND b.id = t.buyer_id',
    s: 'LEFT JOIN traffic_sources s ON s.company_id = t.company_id AND s.id = t.traffic_source_id',
  },
  columns: {
    ...commonColumns('phone_numbers'),
    type: `'Number'`,
    name: true,
    phone_number: `'+' || t.phone_number`,
    number: `'+' || t.phone_number`,
    country: true,
    toll_free: true,
    carrier: true,
    sandbox: `t.carrier = 'sandbox'`,
    forward_type: true,
    offer_id: true,
    offer: 'o.name',
    buyer_id: true,
    buyer: 'coalesce(b.name, b.number)',
    traffic_source_id: true,
    traffic_source: 's.name',
    last_assigned_at: true,
    carrier_number_id: true,
  },
} as const satisfies Projection<'PhoneNumber', 'number', 'numbers'>;

const orders: Record<string, SortKey> = {
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  phone_number: { sql: 't.phone_number', type: 'bigint' },
  country: { sql: 't.country', type: 'text' },
  name: { sql: 't.name', type: 'text', nullable: true },
};

export const phoneNumbers = ({ clock, carrier, queue }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listPhoneNumbers: async ({ query, db }) => {
      const number = await callerNumber(db, query.number, 'number');
      const filters = { ...buildReferenceConditions(query, REFERENCES), ...FILTERS };
      const narrowed = { ...query, number };
      return list(narrowed, { db, now: clock(), projection, orders, filters });
    },

    searchPhoneNumbers: ({ query, db }) => searchNumbers(db, query, { carrier, now: clock() }),

    newPhoneNumber: (call) => records.showUnsaved(call, { ...DEFAULTS, carrier: carrier.name }),

    showPhoneNumber: async (call) => records.show(await resolveNumberId(call)),

    createPhoneNumber: (call) =>
      records.create({ ...call, body: { ...call.query, ...call.body } }, (tx, body, now) =>
        buyNumber(tx, body, { carrier, outside: tx.outside, now }),
      ),

    updatePhoneNumber: async (call) =>
      records.updateLockingFirst(
        await resolveNumberId(call),
        // Offers and buyers are locked before their numbers.
        (tx, fields: SentFields) => lockReferences(tx, fields),
        async (tx, id, { fields, now, ahead: references }) =>
          updateNumber(tx, id, { columns: toColumns(fields, references), now }),
      ),

    deletePhoneNumber: async (call) =>
      records.delete(await resolveNumberId(call), (tx, id, now) =>
        releaseNumber(tx, id, { carrier, queue, now }),
      ),
  } satisfies Partial<Handlers>;
};

const REFERENCES = {
  offer_id: 'offers',
  traffic_source_id: 'traffic_sources',
  buyer_id: 'buyers',
} as const;

const FILTERS = {
  country: 't.country = upper({country})',
  toll_free: { cases: { true: 't.toll_free', false: 'NOT t.toll_free' } },
  number: 't.phone_number = {number}::bigint',
};

async function buyNumber(
  db: Db,
  body: Omit<Schemas['PhoneNumberCreate'], 'serializer'>,
  buying: PurchaseContext,
): Promise<bigint> {
  const { requested_number, country, toll_free, prefix, ...fields } = body;
  const columns = toColumns(fields, await lockReferences(db, fields));
  requireBuyer({ ...DEFAULTS, buyer_id: null, ...columns });
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

async function updateNumber(
  db: Db,
  id: bigint,
  { columns, now }: { columns: NumberFields; now: Date },
): Promise<void> {
  const where = { company_id_id: { company_id: db.company_id, id } };
  const select = { forward_type: true, buyer_id: true };
  const before = await db.prisma.number.findUniqueOrThrow({ where, select });
  requireBuyer({ ...before, ...columns });
  const data = { ...columns, ...changedAt(now) };
  await db.prisma.number.update({ where, data });
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
