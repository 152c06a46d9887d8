import { defaultsOf, type Schemas } from '../contract';
import { replaceAttached, suppressionsOf } from '../db/attachments';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { resolveReferences } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { forgetAfter, newLeadToken, revokeLeadToken, setLeadToken } from '../offers/lead-token';
import { withDefaults } from '../http/defaults';
import { pauseColumns } from '../people/paused-by';

type Fields = Schemas['ScheduleFields'];
const DEFAULTS = defaultsOf('ScheduleFields') as {
  time_zone: string;
  daylight_hours: string;
  business_hours_schedule: Schemas['ScheduleEntry'][];
  paused: boolean;
};

export const projection = {
  schema: 'Schedule',
  singular: 'schedule',
  plural: 'schedules',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.user_schedule_id, '') || E'\\n' || coalesce(t.description, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
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
    paused: true,
    paused_at: true,
    unpaused_at: true,
    lead_token: true,
    buyer_suppression_ids: `ARRAY(SELECT a.buyer_suppression_id FROM buyer_suppression_schedules a WHERE a.company_id = t.company_id AND a.schedule_id = t.id ORDER BY 1)`,
    schedule_action_ids: `ARRAY(SELECT a.id FROM schedule_actions a WHERE a.company_id = t.company_id AND a.schedule_id = t.id AND a.deleted_at IS NULL ORDER BY a.end_of_schedule, a.position)`,
    paused_by_user_id: true,
  },
} as const satisfies Projection<'Schedule', 'schedule', 'schedules'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_schedule_id: { sql: 't.user_schedule_id', type: 'text', nullable: true },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
  paused: { sql: 't.paused', type: 'boolean' },
};

/** Plans by which leads are contacted. */
export const schedules = ({ clock, queue, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const forgetting = forgetAfter(authenticator);
  return {
    listSchedules: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newSchedule: (call) => records.unsaved(call, { ...DEFAULTS, business_hours: [] }),
    showSchedule: records.show,

    createSchedule: (call) =>
      records.create(call, async (tx, body, now) => {
        const fields = { ...DEFAULTS, ...withDefaults<Fields>(body, DEFAULTS) };
        const { lists, offer_id = null } = await partsOf(tx, fields);
        const lead_token = newLeadToken();
        const pause = pauseColumns({ paused: false }, fields.paused, { caller: call.caller, now });
        const { id } = await tx.prisma.schedule.create({
          data: {
            ...(columnsOf(fields) as Required<ReturnType<typeof columnsOf>>),
            ...pause,
            offer_id,
            lead_token,
            company_id: tx.company_id,
            user_updated_at: now,
            created_at: now,
            updated_at: now,
          },
          select: { id: true },
        });
        await setLeadToken(tx, { schedule_id: id }, lead_token);
        if (lists)
          await replaceAttached(
            tx,
            'buyer_suppression_schedules',
            { schedule_id: id },
            { buyer_suppression_id: lists },
          );
        return id;
      }),

    updateSchedule: (call) =>
      forgetting(call.db, (replaced) =>
        records.updateAfter(
          { ...call, body: withDefaults<Schemas['ScheduleUpdate']>(call.body, DEFAULTS) },
          (tx, fields: Schemas['ScheduleUpdate']) => partsOf(tx, fields),
          async (tx, id, { fields, now, ahead: { lists, offer_id } }) => {
            const where = { company_id_id: { company_id: tx.company_id, id } };
            const before = await tx.prisma.schedule.findUniqueOrThrow({
              where,
              select: { paused: true, lead_token: true },
            });
            const lead_token = fields.reset_lead_token ? newLeadToken() : before.lead_token;
            const pause = pauseColumns(before, fields.paused, { caller: call.caller, now });
            const offer = offer_id === undefined ? {} : { offer_id };
            await tx.prisma.schedule.update({
              where,
              data: {
                ...columnsOf(fields),
                ...offer,
                ...pause,
                lead_token,
                user_updated_at: now,
                updated_at: now,
              },
            });
            if (lead_token !== before.lead_token) {
              await setLeadToken(tx, { schedule_id: id }, lead_token);
              replaced.push(before.lead_token);
            }
            if (lists)
              await replaceAttached(
                tx,
                'buyer_suppression_schedules',
                { schedule_id: id },
                { buyer_suppression_id: lists },
              );
            if (before.paused && fields.paused === false)
              await queue.add(tx, 'resume_leads', {
                company_id: String(tx.company_id),
                schedule_id: String(id),
              });
          },
        ),
      ),

    deleteSchedule: (call) =>
      forgetting(call.db, (replaced) =>
        records.delete(call, async (tx, id, now) => {
          const where = { company_id_id: { company_id: tx.company_id, id } };
          const { lead_token } = await tx.prisma.schedule.update({
            where,
            data: { deleted_at: now, updated_at: now, user_updated_at: now },
          });
          await revokeLeadToken(tx, { schedule_id: id });
          await tx.prisma.buyerSuppressionSchedule.deleteMany({ where: { schedule_id: id } });
          await queue.add(tx, 'remove_leads', {
            company_id: String(tx.company_id),
            schedule_id: String(id),
          });
          replaced.push(lead_token);
        }),
      ),
  } satisfies Partial<Handlers>;
};

/** The columns of the schedule's row among the fields. */
function columnsOf(fields: Fields) {
  const {
    name,
    user_schedule_id,
    description,
    time_zone,
    daylight_hours,
    hours_to_expire,
    max_contact_attempts,
    from_email,
    paused,
    external_record_id,
  } = fields;
  const business_hours = fields.business_hours_schedule ?? undefined;
  const own = {
    name,
    user_schedule_id,
    description,
    time_zone,
    daylight_hours,
    business_hours,
    hours_to_expire,
    max_contact_attempts,
    from_email,
    paused,
    external_record_id,
  };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as {
    name?: string;
    time_zone?: string;
    daylight_hours?: string;
    business_hours?: Schemas['ScheduleEntry'][];
  };
}

/** What the fields refer to: suppression lists before the offer, in the order of locks. */
async function partsOf(
  db: Db,
  { buyer_suppression_ids, offer_id }: Fields,
): Promise<{ lists?: bigint[]; offer_id?: bigint | null }> {
  const lists = await suppressionsOf(db, { buyer_suppression_ids });
  const named =
    offer_id === undefined || offer_id === null
      ? offer_id
      : (await resolveReferences(db, 'offers', [offer_id], { field: 'offer_id' }))[0]!;
  return { ...(lists && { lists }), ...(named !== undefined && { offer_id: named }) };
}
