import { commonColumns, type Projection } from '../../data/projection/projection';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { readDefaults, type Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { withDefaults } from '../../api/request/defaults';

export const projection = {
  schema: 'Disposition',
  singular: 'disposition',
  plural: 'dispositions',
  fulltext: `lower(coalesce(t.key, '') || E'\\n' || coalesce(t.name, '')
    || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('dispositions'),
    type: `'Disposition'`,
    key: true,
    name: true,
    position: true,
  },
} as const satisfies Projection<'Disposition', 'disposition', 'dispositions'>;

const orders: Record<string, SortKey> = {
  position: { sql: 't.position', type: 'bigint' },
  key: { sql: 't.key', type: 'text' },
  name: { sql: 't.name', type: 'text' },
  ...BY_TIMES,
};

/**
 * Dispositions: how calls can end for those who work on them. A change locks the disposition alone;
 * a call takes its disposition while it is locked itself.
 */
export const dispositions = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listDispositions: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newDisposition: (call) => records.showUnsaved(call, DEFAULTS),
    showDisposition: records.show,
    createDisposition: (call) => records.create(call, createDisposition),
    updateDisposition: (call) => records.update(call, updateDisposition),
    deleteDisposition: (call) => records.delete(call, deleteDisposition),
  } satisfies Partial<Handlers>;
};

type Fields = Schemas['DispositionFields'];

const DEFAULTS = readDefaults('DispositionFields') as { position: number };

type Columns = Pick<Fields, 'key' | 'name' | 'external_record_id'> & Partial<typeof DEFAULTS>;

/** A null restores the default of a column. */
function toColumns(fields: Fields): Columns {
  const { key, name, position, external_record_id } = withDefaults(fields, DEFAULTS);
  return { key, name, position, external_record_id } as Columns;
}

async function createDisposition(
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

async function updateDisposition(
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
async function deleteDisposition(tx: Db, id: bigint, now: Date): Promise<void> {
  await tx.prisma.disposition.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
}
