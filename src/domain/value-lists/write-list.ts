import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { violatedColumn } from '../../api/reply/violated-key';
import { foldCase } from '../../platform/tokens/filter-values';
import { addValues, replaceValues } from './change-values';
import { USERS_OF_LIST } from './queries/value-lists';
import { toListValues, type Kind, type ListInput } from './sent-values';

// Filters refer to a list by its name, and buyers by its id: a list in use is neither renamed nor
// deleted. Lock order: the list, then its values. A transaction that writes a filter or a buyer
// locks the list against both.

export type Fields = Schemas['ValueListFields'] & { column_name?: string | null };

export interface Change {
  fields: Fields;
  input: ListInput | undefined;
  now: Date;
}

export const toKey = ({ company_id }: Db, id: bigint) => ({ company_id_id: { company_id, id } });

const toListColumns = ({ name, description, external_record_id }: Fields) => ({
  ...(name !== undefined && { name, key: foldCase(name) }),
  ...(description !== undefined && { description }),
  ...(external_record_id !== undefined && { external_record_id }),
});

export async function createList(
  tx: Db,
  kind: Kind,
  { fields, input, now }: Change,
): Promise<bigint> {
  const listColumns = toListColumns(fields);
  const { id } = await requireUniqueName(() =>
    tx.prisma.valueList.create({
      data: {
        ...listColumns,
        name: listColumns.name!,
        key: listColumns.key!,
        kind,
        company_id: tx.company_id,
        ...createdAt(now),
      },
      select: { id: true },
    }),
  );
  if (input) await addValues(tx, id, toListValues(input, kind), input.field);
  return id;
}

export async function updateList(
  tx: Db,
  id: bigint,
  { fields, input, now }: Change,
): Promise<void> {
  const listColumns = toListColumns(fields);
  const { key, kind } = await tx.prisma.valueList.findUniqueOrThrow({
    where: toKey(tx, id),
    select: { key: true, kind: true },
  });
  if (listColumns.key !== undefined && key !== listColumns.key)
    await requireUnused(tx, id, 'renamed');
  const data = { ...listColumns, ...changedAt(now) };
  await requireUniqueName(() => tx.prisma.valueList.update({ where: toKey(tx, id), data }));
  if (input) await replaceValues(tx, id, toListValues(input, kind as Kind), input.field);
}

export async function deleteList(tx: Db, id: bigint, now: Date): Promise<void> {
  await requireUnused(tx, id, 'deleted');
  await tx.prisma.valueList.update({ where: toKey(tx, id), data: deletedAt(now) });
}

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
