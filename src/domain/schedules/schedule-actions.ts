import type { Schemas } from '../../platform/contract/contract';
import { toMakerColumns } from '../../data/access/makers';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { isPermitted, type Caller } from '../../api/auth/caller';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { buildActionRow } from './change-action';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

// Actions of schedules. The schedule is locked before its actions.

export const projection = {
  schema: 'ScheduleAction',
  singular: 'schedule_action',
  plural: 'schedule_actions',
  fulltext: `lower(
    coalesce(t.name, '') || E'\\n' || coalesce(t.subject, '') || E'\\n' || coalesce(t.body, '')
    || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('schedule_actions'),
    type: `'ScheduleAction'`,
    schedule_id: true,
    action_type: true,
    name: true,
    end_of_schedule: true,
    position: true,
    token_filter_list: 't.token_filters',
    wait_amount: true,
    wait_unit: true,
    wait_until: true,
    connect_to: true,
    timeout_seconds: true,
    body: true,
    subject: true,
    html: true,
    from_email: true,
    url: true,
    method: true,
    headers: true,
    to_schedule_id: true,
    maker_user_id: true,
    only_when_buyer_available: true,
    machine_action: true,
    machine_message: true,
  },
} as const satisfies Projection<'ScheduleAction', 'schedule_action', 'schedule_actions'>;

const orders: Record<string, SortKey> = {
  position: { sql: 't.position', type: 'double precision' },
  ...BY_TIMES,
};

type Fields = Schemas['ScheduleActionFields'];

const key = (companyId: bigint, id: bigint) => ({ company_id_id: { company_id: companyId, id } });

export const scheduleActions = ({ clock, config }: Deps) => {
  const records = recordHandlers(projection, clock);
  const networks = config.webhook_allow_networks;
  return {
    listScheduleActions: ({ query, db }) => {
      const filters = buildReferenceConditions(query, { schedule_id: 'schedules' });
      return page(query, { db, now: clock(), projection, orders, filters });
    },
    newScheduleAction: (call) =>
      records.showUnsaved(call, { end_of_schedule: false, token_filters: [] }),
    showScheduleAction: records.show,

    createScheduleAction: (call) =>
      records.create(call, async (tx, fields, now) => {
        requireReadable(call.caller, fields.action_type);
        const data = {
          ...(await buildActionRow(tx, undefined, fields, networks)),
          ...toMakerColumns(tx),
          ...createdAt(now),
        };
        return (await tx.prisma.scheduleAction.create({ data, select: { id: true } })).id;
      }),

    updateScheduleAction: (call) =>
      records.update(call, (tx, id, { fields, now }) =>
        updateAction(tx, id, fields, { caller: call.caller, now, networks }),
      ),

    deleteScheduleAction: (call) =>
      records.delete(call, async (tx, id, now) => {
        await tx.prisma.scheduleAction.update({
          where: key(tx.company_id, id),
          data: deletedAt(now),
        });
      }),
  } satisfies Partial<Handlers>;
};

/** A webhook sends leads: only callers that may read leads can create one. */
function requireReadable(caller: Caller, actionType?: string): void {
  if (actionType !== 'webhook' || isPermitted(caller, 'leads:read')) return;
  throw HttpProblem.field(
    'action_type',
    'beyond_your_rights',
    'needs leads:read for webhook, which these credentials lack: it sends leads',
  );
}

async function updateAction(
  tx: Db,
  id: bigint,
  fields: Fields,
  { caller, now, networks }: { caller: Caller; now: Date; networks: readonly string[] },
): Promise<void> {
  const where = key(tx.company_id, id);
  const before = await tx.prisma.scheduleAction.findUniqueOrThrow({ where });
  const existingAction = {
    ...before,
    schedule_id: String(before.schedule_id),
    to_schedule_id: before.to_schedule_id && String(before.to_schedule_id),
  } as unknown as Fields;
  const { company_id, ...data } = await buildActionRow(tx, existingAction, fields, networks);
  void company_id;
  requireReadable(caller, data.action_type);
  await tx.prisma.scheduleAction.update({
    where,
    data: { ...data, ...toMakerColumns(tx), ...changedAt(now) },
  });
}
