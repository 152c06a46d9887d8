import type { OperationId, Schemas } from '../../platform/contract/contract';
import { safeCell } from '../../data/projection/projection-sql';
import { findRecord, toKey } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Call } from '../../api/handlers';
import { keyedList } from '../../api/records/list';
import type { noun } from '../../api/records/noun';
import { violatedColumn } from '../../api/reply/violated-key';
import { foldCase } from '../../platform/tokens/filter-values';
import { addValues, removeValues, replaceValues } from './change-values';
import { USERS_OF_LIST } from './queries/value-lists';
import { readListInput, toListValues, type Kind, type ListInput } from './sent-values';

// Value lists and ZIP lists differ only in the names of a record. Filters refer to a list by its
// name, and buyers by its id: a list in use is neither renamed nor deleted. Lock order: the list,
// then its values. A transaction that writes a filter or a buyer locks the list against both.

type ListNoun<Singular extends string, Names extends Record<string, OperationId>> = Pick<
  ReturnType<typeof noun<'ValueList', Singular, 'value_lists', 'ValueList', Names>>,
  'writer'
>;

type CreateCall = Pick<Call<'createValueList'>, 'query' | 'db' | 'upload' | 'caller'> & {
  body: Omit<Call<'createValueList'>['body'], 'kind'>;
};

/** Handlers that write lists. The values of a request are read before its transaction. */
export function buildListHandlers<
  Singular extends string,
  Names extends Record<string, OperationId>,
>(list: ListNoun<Singular, Names>, deps: Deps) {
  const write = (input: ListInput | undefined, newKind: Kind = 'values') =>
    list.writer(deps, {
      reads: ['key', 'kind'],
      columns: async ({ tx, id, fields: { name }, before }) => {
        const key = name === undefined ? undefined : foldCase(name);
        if (before && key !== undefined && key !== before.key)
          await requireUnused(tx, id!, 'renamed');
        return { key, kind: before ? undefined : newKind };
      },
      save: async ({ tx, id, before }) => {
        if (!input) return;
        const values = toListValues(input, (before?.kind as Kind | undefined) ?? newKind);
        if (before) await replaceValues(tx, id, values, input.field);
        else await addValues(tx, id, values, input.field);
      },
    });
  const { change } = list.writer(deps);
  const changeValues = async (call: ValuesCall, verb: Verb) => {
    const input = await readListInput(call.body, call.upload);
    if (!input)
      throw HttpProblem.field(
        'values',
        'missing_field',
        'must be given, or a CSV file in import_file',
      );
    return change(call, {
      work: async ({ tx, id, now }) => {
        const { kind } = await tx.prisma.valueList.update({
          where: toKey(tx, id),
          data: changedAt(now),
          select: { kind: true },
        });
        const values = toListValues(input, kind as Kind);
        const changed = await verb(tx, id, { values, field: input.field });
        return { accepted: values.length, ...changed };
      },
    });
  };
  return {
    deletion: { detach: ({ tx, id }: { tx: Db; id: bigint }) => requireUnused(tx, id, 'deleted') },

    create: async (call: CreateCall, kind: Kind) => {
      const input = await readListInput(call.body, call.upload);
      return requireUniqueName(() => write(input, kind).create(call));
    },

    update: async (call: Call<'updateValueList'> | Call<'updateZipList'>) => {
      const input = await readListInput(call.body, call.upload);
      return requireUniqueName(() => write(input).update(call));
    },

    add: (call: ValuesCall) => changeValues(call, addTo),
    remove: (call: ValuesCall) => changeValues(call, removeFrom),
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

/** Reports a violation of the unique key as a fault of the name. */
async function requireUniqueName<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'P2002' || violatedColumn(error) !== 'key') throw error;
    throw HttpProblem.field('name', 'taken', 'is taken by another value list; it must be unique');
  }
}

/** Throws 422 with the records that use a locked list. */
async function requireUnused(tx: Db, id: bigint, verb: 'renamed' | 'deleted'): Promise<void> {
  const users = await tx.sql(USERS_OF_LIST, { list: id });
  if (users.length === 0) return;
  // A limited caller learns that there are some, not which.
  const names = users
    .slice(0, 20)
    .map(({ type, id: user, name }) => `${type} ${user}${name ? ` (${name})` : ''}`)
    .join(', ');
  const by = tx.accessScope ? 'other records' : names;
  throw HttpProblem.field('name', 'in_use', `cannot be ${verb}: it is used by ${by}`);
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
