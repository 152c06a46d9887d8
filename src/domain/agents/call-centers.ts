import { commonColumns, type Projection } from '../../data/projection/projection';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { addSingleStatement, omitSerializer } from '../../api/records/write-directly';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

const AGENTS = 'agent_call_centers m WHERE m.company_id = t.company_id AND m.call_center_id = t.id';

export const projection = {
  schema: 'CallCenter',
  singular: 'call_center',
  plural: 'call_centers',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.user_call_center_id, '')
    || E'\\n' || coalesce(t.description, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('call_centers'),
    type: `'CallCenter'`,
    name: true,
    description: true,
    user_call_center_id: true,
    agents_count: `(SELECT count(*) FROM ${AGENTS})`,
    agent_ids: `ARRAY(SELECT m.agent_id FROM ${AGENTS} ORDER BY m.agent_id)`,
  },
} as const satisfies Projection<'CallCenter', 'call_center', 'call_centers'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_call_center_id: { sql: 't.user_call_center_id', type: 'text', nullable: true },
  ...BY_TIMES,
};

export const callCenters = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (companyId: bigint, id: bigint) => ({ company_id_id: { company_id: companyId, id } });
  return {
    listCallCenters: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newCallCenter: (call) => records.showUnsaved(call, {}),
    showCallCenter: records.show,

    createCallCenter: addSingleStatement<'createCallCenter'>(
      (call) =>
        records.create(call, async (tx, { name, ...fields }, now) => {
          const data = { ...fields, name: name!, company_id: tx.company_id, ...createdAt(now) };
          return (await tx.prisma.callCenter.create({ data, select: { id: true } })).id;
        }),
      (call, entry) => records.createInStatement(call, entry, { row: omitSerializer(call.body) }),
    ),

    updateCallCenter: addSingleStatement<'updateCallCenter'>(
      (call) =>
        records.update(call, async (tx, id, { fields, now }) => {
          await tx.prisma.callCenter.update({
            where: key(tx.company_id, id),
            data: { ...fields, ...changedAt(now) },
          });
        }),
      (call, entry) => records.updateInStatement(call, entry, { row: omitSerializer(call.body) }),
    ),

    deleteCallCenter: (call) =>
      records.delete(call, async (tx, id, now) => {
        await tx.prisma.agentCallCenter.deleteMany({ where: { call_center_id: id } });
        await tx.prisma.callCenter.update({
          where: key(tx.company_id, id),
          data: deletedAt(now),
        });
      }),
  } satisfies Partial<Handlers>;
};
