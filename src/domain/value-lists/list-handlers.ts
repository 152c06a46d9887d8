import { keyedList } from '../../api/records/list';
import type { Schemas } from '../../platform/contract/contract';
import type { Projection } from '../../data/projection/projection';
import { safeCell } from '../../data/projection/projection-sql';
import { findRecord, lockRecord } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import type { Call } from '../../api/handlers';
import { requireUnchanged, loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { foldCase } from '../../platform/tokens/filter-values';
import { addValues, removeValues } from './change-values';
import { readListInput, toListValues, type Kind } from './sent-values';
import { createList, deleteList, toKey, updateList, type Fields } from './write-list';

// Handlers that value lists and ZIP lists share: the two differ only in the names of a record.

type CreateCall = Pick<Call<'createValueList'>, 'query' | 'db' | 'upload'> & {
  body: Omit<Call<'createValueList'>['body'], 'kind'>;
};

export function listHandlers<P extends Projection>(projection: P, clock: () => Date) {
  const records = recordHandlers(projection, clock);
  return {
    unsaved: records.showUnsaved,
    show: records.show,

    create: async (call: CreateCall, kind: Kind) => {
      const input = await readListInput(call.body, call.upload);
      return records.create(call, (tx, fields: Fields, now) =>
        createList(tx, kind, { fields, input, now }),
      );
    },

    update: async (call: Call<'updateValueList'> | Call<'updateZipList'>) => {
      const input = await readListInput(call.body, call.upload);
      return records.update(call, (tx, id, { fields, now }: { fields: Fields; now: Date }) =>
        updateList(tx, id, { fields, input, now }),
      );
    },

    delete: (call: Call<'deleteValueList'> | Call<'deleteZipList'>) =>
      records.delete(call, deleteList),

    add: (call: ValuesCall) => changeValues(call, { projection, verb: addTo, now: clock() }),
    remove: (call: ValuesCall) =>
      changeValues(call, { projection, verb: removeFrom, now: clock() }),
  };
}

interface Verb {
  (
    tx: Db,
    list: bigint,
    change: { values: readonly string[]; field: string },
  ): Promise<{ added: number; removed: number }>;
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

async function changeValues<P extends Projection>(
  call: ValuesCall,
  { projection, verb, now }: { projection: P; verb: Verb; now: Date },
) {
  const { params, query, body, db, upload, if_match } = call;
  const input = await readListInput(body, upload);
  if (!input)
    throw HttpProblem.field(
      'values',
      'missing_field',
      'must be given, or a CSV file in import_file',
    );
  const options = { db, now, projection, serializer: body.serializer ?? query.serializer };
  const { id, counts } = await db.transaction(async (tx) => {
    const list = await lockRecord(tx, 'value_lists', params.id, ['kind']);
    await requireUnchanged({ ...options, db: tx, if_match }, params.id);
    const values = toListValues(input, list.kind as Kind);
    const changed = await verb(tx, list.id, { values, field: input.field });
    const data = changedAt(now);
    await tx.prisma.valueList.update({ where: toKey(tx, list.id), data });
    return { id: list.id, counts: { accepted: values.length, ...changed } };
  });
  return loadWriteReply(options, id, { extra: counts });
}

/** SQL of the number of values, which the list itself counts. */
const COUNT = `(
  SELECT values_count FROM value_lists WHERE company_id = {company_id} AND id = {list})`;

export type ListedCall = Pick<Call<'listListValues'>, 'params' | 'query' | 'db'>;

/** The values of a list; `asListed` converts a searched value to its form in the list. */
export async function listListValues(
  { params, query, db }: ListedCall,
  asListed: (value: string) => string = foldCase,
) {
  const list = await findRecord(db, 'value_lists', params.id);
  const value = query.value === undefined ? undefined : asListed(query.value);
  const ofList = 't.value_list_id = {list}';
  return keyedList<Schemas['ListValuePage']>(query, {
    db,
    root: 'values',
    table: 'list_values',
    key: 'id',
    conditions: value === undefined ? [ofList] : [ofList, 't.value = {value}'],
    values: { list, value },
    ...(value === undefined && { total: COUNT }),
    item: 'to_json(t.value)',
    cells: { value: safeCell('t.value') },
  });
}
