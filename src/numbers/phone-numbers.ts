import type { NumberSearch } from '../carriers/carrier';
import { numberFacts } from '../carriers/number-facts';
import { MAX_NUMBERS } from '../carriers/number-search';
import type { Schemas } from '../contract';
import { callerNumber } from '../phone/caller-number';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { byReference, resolveReferences, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { END } from '../http/cursor';
import { list, pageReply } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { telephoneOf } from '../db/references';
import { notFound, HttpProblem } from '../errors';
import type { NumberFields } from './add-number';
import { buyAny, buyRequested } from './buy-number';
import { carrierUnavailable, findNumbers } from './find-numbers';
import { releaseNumber } from './release-number';

type Fields = Omit<Schemas['NumberFields'], 'serializer'>;
type Wanted = Omit<Schemas['NumberCreate'], 'serializer'>;
const DEFAULTS = { country: 'US', toll_free: false, forward_type: 'offer_id' } as const;

export const projection = {
  schema: 'Number',
  singular: 'number',
  plural: 'numbers',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.phone_number::text, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
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
} as const satisfies Projection<'Number', 'number', 'numbers'>;

const orders: Record<string, SortKey> = {
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  phone_number: { sql: 't.phone_number', type: 'bigint' },
  country: { sql: 't.country', type: 'text' },
  name: { sql: 't.name', type: 'text', nullable: true },
};

/** Numbers of the company, and those for sale. */
export const phoneNumbers = ({ clock, carrier, queue, database }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listPhoneNumbers: async ({ query, db }) => {
      const filters = {
        ...byReference(query, {
          offer_id: 'offers',
          traffic_source_id: 'traffic_sources',
          buyer_id: 'buyers',
        }),
        country: 't.country = upper({country})',
        toll_free: { cases: { true: 't.toll_free', false: 'NOT t.toll_free' } },
        number: 't.phone_number = {number}::bigint',
      };
      const narrowed = { ...query, number: await callerNumber(db, query.number, 'number') };
      return list(narrowed, { db, now: clock(), projection, orders, filters });
    },

    searchPhoneNumbers: async ({ query, db }) => {
      const { page = 1, per_page = 25, cursor } = query;
      const found = await findNumbers(
        db,
        { ...searchOf(query), limit: MAX_NUMBERS },
        { carrier, now: clock() },
      );
      if (!found.ok) throw carrierUnavailable(found, 'Nothing was found.');
      const first = cursor === undefined ? (page - 1) * per_page : placeOf(cursor);
      const records = found.numbers
        .slice(first, first + per_page)
        .map(({ phone_number, country }) => {
          const result: Schemas['PhoneNumberSearchResult'] = {
            id: phone_number,
            legacy_id: phone_number,
            type: 'PhoneNumberSearchResult',
            phone_number,
            country,
          };
          return JSON.stringify(result);
        });
      const next = first + per_page;
      return pageReply('phone_number_search_results', query, {
        records,
        total_count: found.numbers.length,
        next_cursor: next < found.numbers.length ? String(next) : 0,
      });
    },

    newPhoneNumber: (call) => records.unsaved(call, { ...DEFAULTS, carrier: carrier.name }),

    showPhoneNumber: async (call) => records.show(await named(call)),

    createPhoneNumber: (call) => {
      const body = { ...call.query, ...call.body };
      return records.create({ ...call, body }, async (tx, sent: Wanted, now) => {
        const { requested_number, country, toll_free, prefix, ...fields } = sent;
        const own = columnsOf(fields, await referencesOf(tx, fields));
        requireBuyer({ ...DEFAULTS, buyer_id: null, ...own });
        // On connections that nobody holds for long: those who buy hold one of the pool's, and would wait for one another.
        const buying = { carrier, aside: database.joint, now };
        if (requested_number === undefined)
          return buyAny(tx, searchOf({ country, toll_free, prefix }), own, buying);
        const number = numberFacts(
          `+${await callerNumber(tx, requested_number, 'requested_number')}`,
          country,
        );
        if (!number)
          throw HttpProblem.field(
            'requested_number',
            `must be a number of ${country ?? 'US, CA, GB or AU'}, as a search gives it`,
          );
        return buyRequested(tx, number, own, buying);
      });
    },

    updatePhoneNumber: async (call) =>
      records.updateAfter(
        await named(call),
        // Offers and buyers are locked before their numbers.
        (tx, fields: Fields) => referencesOf(tx, fields),
        async (tx, id, { fields, now, ahead }) => {
          const where = { company_id_id: { company_id: tx.company_id, id } };
          const before = await tx.prisma.number.findUniqueOrThrow({
            where,
            select: { forward_type: true, buyer_id: true },
          });
          const own = columnsOf(fields, ahead);
          requireBuyer({ ...before, ...own });
          await tx.prisma.number.update({
            where,
            data: { ...own, user_updated_at: now, updated_at: now },
          });
        },
      ),

    deletePhoneNumber: async (call) =>
      records.delete(await named(call), (tx, id, now) =>
        releaseNumber(tx, id, { carrier, queue, now }),
      ),
  } satisfies Partial<Handlers>;
};

/** The call with the id of the number in place of the telephone number that names it. */
async function named<C extends { params: { id: Reference }; db: Db }>(call: C): Promise<C> {
  const digits = telephoneOf(String(call.params.id));
  if (digits === undefined) return call;
  const [row] = await call.db.query<{ id: string }>({
    text: 'SELECT id::text FROM numbers WHERE company_id = $1 AND phone_number = $2::bigint AND deleted_at IS NULL',
    values: [call.db.company_id, digits],
  });
  if (!row) throw notFound();
  return { ...call, params: { ...call.params, id: row.id } };
}

const PREFIX = /^[ +]?[\d ().-]*\d[\d ().-]*$/;
const QUERY = /^[ +]?[\da-z* ().-]*[\da-z*][\da-z* ().-]*$/i;

interface Searched {
  country?: string;
  toll_free?: boolean;
  prefix?: string | null;
  query?: string | null;
}

/** A search as carriers are asked. A plus sign in a query string arrives as a space. */
function searchOf({
  country = DEFAULTS.country,
  toll_free = DEFAULTS.toll_free,
  prefix,
  query,
}: Searched): NumberSearch {
  if (prefix && !PREFIX.test(prefix))
    throw HttpProblem.field(
      'prefix',
      'must be the digits that a number begins with, such as 212 or +44161',
    );
  if (query && !QUERY.test(query))
    throw HttpProblem.field('query', 'must be digits, letters of a keypad, or * for any one digit');
  return {
    country,
    toll_free,
    ...(prefix && { prefix: prefix.replace(/^ /, '+') }),
    ...(query && { query: query.replace(/^ /, '+') }),
  };
}

/** Where a page of a search begins by its cursor. */
function placeOf(cursor: string): number {
  if (cursor === '-1') return 0;
  if (cursor === END) return MAX_NUMBERS;
  if (!/^\d{1,4}$/.test(cursor))
    throw HttpProblem.field('cursor', 'must be -1 or the metadata.next_cursor of a page');
  return Number(cursor);
}

type References = Pick<NumberFields, 'offer_id' | 'buyer_id' | 'traffic_source_id'>;

/** What a number refers to, locked in the order of locks: offer, buyer, traffic source. */
async function referencesOf(
  db: Db,
  { offer_id, buyer_id, traffic_source_id }: Fields,
): Promise<References> {
  const resolve = async (
    table: 'offers' | 'buyers' | 'traffic_sources',
    field: keyof References,
    reference: Reference | null | undefined,
  ) => {
    if (reference === undefined || reference === null)
      return reference === null ? { [field]: null } : {};
    return { [field]: (await resolveReferences(db, table, [reference], { field }))[0]! };
  };
  return {
    ...(await resolve('offers', 'offer_id', offer_id)),
    ...(await resolve('buyers', 'buyer_id', buyer_id)),
    ...(await resolve('traffic_sources', 'traffic_source_id', traffic_source_id)),
  };
}

/** The columns of the number's row among the fields. */
function columnsOf(
  { name, forward_type, external_record_id }: Fields,
  references: References,
): NumberFields {
  return {
    ...references,
    ...(name !== undefined && { name }),
    ...(forward_type !== undefined && { forward_type }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

function requireBuyer({
  forward_type,
  buyer_id,
}: {
  forward_type?: string;
  buyer_id?: bigint | null;
}): void {
  if (forward_type === 'buyer_id' && !buyer_id)
    throw HttpProblem.field('buyer_id', 'must name a buyer while forward_type is buyer_id');
}
