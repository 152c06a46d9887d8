import type { Db } from '../../data/db';
import { toKey } from '../../data/references';
import { HttpProblem } from '../../platform/errors';
import { ADD_VALUES, REMOVE_VALUES } from './queries/value-lists';

export const MAX_VALUES = 1_000_000;

/** Adds values to a locked list; returns how many were new. */
export async function addValues(
  tx: Db,
  list: bigint,
  values: readonly string[],
  field: string,
): Promise<number> {
  const [row] = await tx.sql(ADD_VALUES, { list, values });
  await moveCount(tx, list, row!.changed, field);
  return row!.changed;
}

export async function removeValues(
  tx: Db,
  list: bigint,
  values: readonly string[],
): Promise<number> {
  const [row] = await tx.sql(REMOVE_VALUES, { list, values });
  await moveCount(tx, list, -row!.changed, 'values');
  return row!.changed;
}

export async function replaceValues(
  tx: Db,
  list: bigint,
  values: readonly string[],
  field: string,
): Promise<void> {
  await tx.prisma.listValue.deleteMany({ where: { value_list_id: list } });
  await tx.prisma.valueList.update({ where: toKey(tx, list), data: { values_count: 0 } });
  await addValues(tx, list, values, field);
}

async function moveCount(tx: Db, list: bigint, by: number, field: string): Promise<void> {
  const { values_count } = await tx.prisma.valueList.update({
    where: toKey(tx, list),
    data: { values_count: { increment: by } },
    select: { values_count: true },
  });
  if (values_count > MAX_VALUES)
    throw HttpProblem.field(
      field,
      'limit_exceeded',
      `must leave at most ${MAX_VALUES} values in the list`,
    );
}
