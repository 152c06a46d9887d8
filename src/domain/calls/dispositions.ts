import { commonColumns, type Projection } from '../../data/projection/projection';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import {
  createDisposition,
  DEFAULTS,
  deleteDisposition,
  updateDisposition,
} from './save-disposition';

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
