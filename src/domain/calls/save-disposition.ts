import { readDefaults, type Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/tenant';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { withDefaults } from '../../api/request/defaults';

type Fields = Schemas['DispositionFields'];

export const DEFAULTS = readDefaults('DispositionFields') as { position: number };

type Columns = Pick<Fields, 'key' | 'name' | 'external_record_id'> & Partial<typeof DEFAULTS>;

/** A null restores the default of a column. */
function toColumns(fields: Fields): Columns {
  const { key, name, position, external_record_id } = withDefaults(fields, DEFAULTS);
  return { key, name, position, external_record_id } as Columns;
}

export async function createDisposition(
  tx: Db,
  fields: Schemas['DispositionCreate'],
  now: Date,
): Promise<bigint> {
  const data = {
    ...toColumns({ ...DEFAULTS, ...fields }),
    key: fields.key,
    name: fields.name,
    company_id: tx.company_id,
    ...createdAt(now),
  };
  return (await tx.prisma.disposition.create({ data, select: { id: true } })).id;
}

export async function updateDisposition(
  tx: Db,
  id: bigint,
  { fields, now }: { fields: Schemas['DispositionUpdate']; now: Date },
): Promise<void> {
  await tx.prisma.disposition.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { ...toColumns(fields), ...changedAt(now) },
  });
}

/** Deletes a locked disposition. Calls that have it keep it. */
export async function deleteDisposition(tx: Db, id: bigint, now: Date): Promise<void> {
  await tx.prisma.disposition.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
}
