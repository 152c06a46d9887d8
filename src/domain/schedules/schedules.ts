import type { Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import type { Deps } from '../deps';
import { withDefaults } from '../../api/request/defaults';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { buildTokenRevoker } from '../offers/lead-token';
import {
  createSchedule,
  deleteSchedule,
  lockReferences,
  SCHEDULE_DEFAULTS,
  updateSchedule,
} from './save-schedule';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

// Schedules: the steps by which leads are contacted, and the hours in which they may be. engine/
// decides the next step for a lead, and its time; it is pure. Locks: value lists, suppression
// lists, the offer, the schedule.

export const projection = {
  schema: 'Schedule',
  singular: 'schedule',
  plural: 'schedules',
  fulltext: `lower(
    coalesce(t.name, '') || E'\\n' || coalesce(t.user_schedule_id, '')
    || E'\\n' || coalesce(t.description, '') || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('schedules'),
    type: `'Schedule'`,
    name: true,
    user_schedule_id: true,
    description: true,
    offer_id: true,
    time_zone: true,
    daylight_hours: true,
    business_hours_schedule: 't.business_hours',
    hours_to_expire: true,
    max_contact_attempts: true,
    from_email: true,
    exit_on: true,
    triggers: true,
    paused: true,
    paused_at: true,
    unpaused_at: true,
    lead_token: true,
    buyer_suppression_ids: `ARRAY(
      SELECT a.buyer_suppression_id FROM buyer_suppression_schedules a
      WHERE a.company_id = t.company_id AND a.schedule_id = t.id
      ORDER BY 1
    )`,
    schedule_action_ids: `ARRAY(
      SELECT a.id FROM schedule_actions a
      WHERE a.company_id = t.company_id AND a.schedule_id = t.id AND a.deleted_at IS NULL
      ORDER BY a.end_of_schedule, a.position
    )`,
    paused_by_user_id: true,
  },
} as const satisfies Projection<'Schedule', 'schedule', 'schedules'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_schedule_id: { sql: 't.user_schedule_id', type: 'text', nullable: true },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
};

export const schedules = ({ clock, queue, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const revokingTokens = buildTokenRevoker(authenticator);
  return {
    listSchedules: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newSchedule: (call) => records.showUnsaved(call, { ...SCHEDULE_DEFAULTS, business_hours: [] }),
    showSchedule: records.show,

    createSchedule: (call) =>
      records.create(call, async (tx, body, now) => {
        const input = withDefaults<Schemas['ScheduleCreate']>(body, SCHEDULE_DEFAULTS);
        const fields = { ...SCHEDULE_DEFAULTS, ...input };
        const references = await lockReferences(tx, fields);
        return createSchedule(tx, fields, { caller: call.caller, now, references });
      }),

    updateSchedule: (call) => {
      const body = withDefaults<Schemas['ScheduleUpdate']>(call.body, SCHEDULE_DEFAULTS);
      return revokingTokens(call.db, (revoked) =>
        records.updateLockingFirst(
          { ...call, body },
          (tx, fields: Schemas['ScheduleUpdate']) => lockReferences(tx, fields),
          async (tx, id, { fields, now, ahead: references }) => {
            const saving = { caller: call.caller, now, references, queue };
            const token = await updateSchedule(tx, id, fields, saving);
            if (token !== undefined) revoked.push(token);
          },
        ),
      );
    },

    deleteSchedule: (call) =>
      revokingTokens(call.db, (revoked) =>
        records.delete(call, async (tx, id, now) => {
          revoked.push(await deleteSchedule(tx, id, { queue, now }));
        }),
      ),
  } satisfies Partial<Handlers>;
};
