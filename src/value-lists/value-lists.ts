import type { Schemas } from '../contract';
import { BY_TIMES, type SortKey } from '../db/list-statements';
import { commonColumns, type Projection } from '../db/projection';
import { findRecord, lockRecord } from '../db/records';
import type { Db } from '../db/tenant';
import { changedAt, createdAt, deletedAt } from '../db/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../errors';
import type { Call, Handlers } from '../http/handlers';
import { keyedList } from '../http/keyed-list';
import { page } from '../http/list';
import { requireUnchanged, written } from '../http/record';
import { recordHandlers } from '../http/record-handlers';
import { violatedColumn } from '../http/violated-key';
import type { Upload } from '../http/upload';
import { folded } from '../tokens/filter-values';
import { addValues, removeValues, replaceValues, valuesIn } from './change-values';
import { USERS_OF_LIST } from './queries/value-lists';
import { readValues } from './read-file';

// Value lists: values that filters name by in_list, such as the ZIP codes of a region. Filters name
// a list by its name: it is neither renamed nor deleted while one does. Locks: the list, then its
// values; who writes a filter locks the list against both.

const users = (table: string, column: string, living = 'x.deleted_at IS NULL') => `EXISTS (
  SELECT FROM ${table} x
  WHERE x.company_id = t.company_id AND ${living}
    AND t.key = ANY(SELECT value_list_of(f) FROM unnest(x.${column}) f))`;

export const projection = {
  schema: 'ValueList',
  singular: 'value_list',
  plural: 'value_lists',
  fulltext: `lower(
    coalesce(t.name, '')
    || E'\\n' || coalesce(t.description, '')
    || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('value_lists'),
    type: `'ValueList'`,
    name: true,
    description: true,
    values_count: true,
    in_use: `(
      ${users('buyers', 'record_token_filter_data')}
      OR ${users('buyer_conversions', 'token_values', 'true')}
      OR ${users('schedule_actions', 'token_filters')}
      OR ${users('outgoing_webhooks', 'token_filters')}
      OR EXISTS (
        SELECT FROM schedules x
        WHERE x.company_id = t.company_id AND x.deleted_at IS NULL
          AND t.key = ANY(SELECT value_list_of(f #>> '{}')
            FROM jsonb_path_query(x.triggers, '$[*].token_filter_list[*]') f)
      )
    )`,
  },
} as const satisfies Projection<'ValueList', 'value_list', 'value_lists'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  ...BY_TIMES,
};

type Fields = Schemas['ValueListFields'] & { column_name?: string | null };

export const valueLists = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listValueLists: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newValueList: (call) => records.unsaved(call, { values_count: 0 }),
    showValueList: records.show,

    createValueList: async (call) => {
      const sent = await sentValues(call.body, call.upload);
      return records.create(call, (tx, fields: Fields, now) =>
        createList(tx, { fields, sent, now }),
      );
    },

    updateValueList: async (call) => {
      const sent = await sentValues(call.body, call.upload);
      return records.update(call, (tx, id, { fields, now }: { fields: Fields; now: Date }) =>
        updateList(tx, id, { fields, sent, now }),
      );
    },

    deleteValueList: (call) =>
      records.delete(call, async (tx, id, now) => {
        await requireUnused(tx, id, 'deleted');
        const data = deletedAt(now);
        await tx.prisma.valueList.update({ where: keyOf(tx, id), data });
      }),

    addToValueList: (call) => changeValues(call, addTo, clock()),
    removeFromValueList: (call) => changeValues(call, removeFrom, clock()),
    listListValues,
  } satisfies Partial<Handlers>;
};

const keyOf = ({ company_id }: Db, id: bigint) => ({ company_id_id: { company_id, id } });

/** Values of a request, and the field that they were sent in. */
interface Sent {
  values: string[];
  field: 'values' | 'import_file';
}

/** Undefined when none were sent. */
async function sentValues(
  { values, column_name }: { values?: readonly string[] | undefined; column_name?: string | null },
  upload: Upload | undefined,
): Promise<Sent | undefined> {
  if (upload && values !== undefined)
    throw HttpProblem.field('values', 'conflicting_fields', 'must not come with import_file');
  if (upload)
    return {
      values: valuesIn(await readValues(upload, column_name), 'import_file'),
      field: 'import_file',
    };
  return values && { values: valuesIn(values, 'values'), field: 'values' };
}

interface Change {
  fields: Fields;
  sent: Sent | undefined;
  now: Date;
}

const ownColumns = ({ name, description, external_record_id }: Fields) => ({
  ...(name !== undefined && { name, key: folded(name) }),
  ...(description !== undefined && { description }),
  ...(external_record_id !== undefined && { external_record_id }),
});

async function createList(tx: Db, { fields, sent, now }: Change): Promise<bigint> {
  const own = ownColumns(fields);
  const { id } = await named(() =>
    tx.prisma.valueList.create({
      data: {
        ...own,
        name: own.name!,
        key: own.key!,
        company_id: tx.company_id,
        ...createdAt(now),
      },
      select: { id: true },
    }),
  );
  if (sent) await addValues(tx, id, sent.values, sent.field);
  return id;
}

async function updateList(tx: Db, id: bigint, { fields, sent, now }: Change): Promise<void> {
  const own = ownColumns(fields);
  if (own.key !== undefined) {
    const { key } = await tx.prisma.valueList.findUniqueOrThrow({
      where: keyOf(tx, id),
      select: { key: true },
    });
    if (key !== own.key) await requireUnused(tx, id, 'renamed');
  }
  const data = { ...own, ...changedAt(now) };
  await named(() => tx.prisma.valueList.update({ where: keyOf(tx, id), data }));
  if (sent) await replaceValues(tx, id, sent.values, sent.field);
}

/** Says of the name what the database says of its key. */
async function named<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'P2002' || violatedColumn(error) !== 'key') throw error;
    throw HttpProblem.field('name', 'taken', 'is taken by another value list; it must be unique');
  }
}

/** Throws 422 with the records whose filters name a locked list. */
async function requireUnused(tx: Db, id: bigint, verb: 'renamed' | 'deleted'): Promise<void> {
  const { key } = await tx.prisma.valueList.findUniqueOrThrow({
    where: keyOf(tx, id),
    select: { key: true },
  });
  const found = await tx.sql(USERS_OF_LIST, { key });
  if (found.length === 0) return;
  // A limited caller learns that there are some, not which.
  const names = found
    .slice(0, 20)
    .map(({ type, id: user, name }) => `${type} ${user}${name ? ` (${name})` : ''}`)
    .join(', ');
  const by = tx.accessScope ? 'filters' : `the filters of ${names}`;
  throw HttpProblem.field('name', 'in_use', `cannot be ${verb}: it is used by ${by}`);
}

interface Verb {
  (tx: Db, list: bigint, sent: Sent): Promise<{ added: number; removed: number }>;
}

const addTo: Verb = async (tx, list, { values, field }) => ({
  added: await addValues(tx, list, values, field),
  removed: 0,
});

const removeFrom: Verb = async (tx, list, { values }) => ({
  added: 0,
  removed: await removeValues(tx, list, values),
});

type ValuesCall = Pick<Call<'addToValueList'>, 'params' | 'query' | 'body' | 'db' | 'upload'> & {
  if_match: string | undefined;
};

/** Puts the values of a request on a list, or takes them off. */
async function changeValues(call: ValuesCall, verb: Verb, now: Date) {
  const { params, query, body, db, upload, if_match } = call;
  const sent = await sentValues(body, upload);
  if (!sent)
    throw HttpProblem.field(
      'values',
      'missing_field',
      'must be given, or a CSV file in import_file',
    );
  const options = { db, now, projection, serializer: body.serializer ?? query.serializer };
  const { id, counts } = await db.transaction(async (tx) => {
    const list = await lockRecord(tx, 'value_lists', params.id);
    await requireUnchanged({ ...options, db: tx, if_match }, params.id);
    const changed = await verb(tx, list.id, sent);
    const data = changedAt(now);
    await tx.prisma.valueList.update({ where: keyOf(tx, list.id), data });
    return { id: list.id, counts: changed };
  });
  return written(options, id, { extra: { accepted: sent.values.length, ...counts } });
}

/** SQL of the number of values, which the list itself counts. */
const COUNT = `(
  SELECT values_count FROM value_lists WHERE company_id = {company_id} AND id = {list})`;

async function listListValues({ params, query, db }: Call<'listListValues'>) {
  const list = await findRecord(db, 'value_lists', params.id);
  const value = query.value === undefined ? undefined : folded(query.value);
  const of_list = 't.value_list_id = {list}';
  return keyedList<Schemas['ListValuePage']>(query, {
    db,
    root: 'values',
    table: 'list_values',
    key: 'id',
    conditions: value === undefined ? [of_list] : [of_list, 't.value = {value}'],
    values: { list, value },
    ...(value === undefined && { total: COUNT }),
    item: 'to_json(t.value)',
    cells: { value: 't.value' },
  });
}
