import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { replaceAttached, resolveSuppressions } from '../../data/attachments';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { COMPANY_WIDE, isPermitted, type Caller } from '../../api/auth/caller';
import type { Queue } from '../../data/jobs/queue';
import { newLeadToken, revokeLeadToken, setLeadToken } from '../offers/lead-token';
import { revokeSourceTokens } from '../offers/source-tokens';
import { buildPauseColumns } from '../people/paused-by';
import { requireValueLists } from '../value-lists/require-lists';

type Fields = Schemas['ScheduleFields'];

export const SCHEDULE_DEFAULTS = readDefaults('ScheduleFields') as {
  time_zone: string;
  daylight_hours: string;
  business_hours_schedule: Schemas['ScheduleEntry'][];
  exit_on: Schemas['ScheduleExit'][];
  triggers: Schemas['ScheduleTrigger'][];
  paused: boolean;
};

/** Locked records; undefined keeps the stored reference. */
export interface ScheduleReferences {
  lists?: bigint[];
  offer_id?: bigint | null;
}

/** Locks the value lists and the suppression lists, then the offer. Throws 422 for missing ones. */
export async function lockReferences(
  db: Db,
  { buyer_suppression_ids, offer_id: offer, triggers }: Fields,
): Promise<ScheduleReferences> {
  for (const [n, { token_filter_list }] of (triggers ?? []).entries())
    await requireValueLists(db, token_filter_list, `triggers.${n}.token_filter_list`);
  const lists = await resolveSuppressions(db, { buyer_suppression_ids });
  const offerId =
    offer === undefined || offer === null
      ? offer
      : (await resolveReferences(db, 'offers', [offer], { field: 'offer_id' }))[0]!;
  return { ...(lists && { lists }), ...(offerId !== undefined && { offer_id: offerId }) };
}

interface SaveContext {
  caller: Caller;
  now: Date;
  references: ScheduleReferences;
}

/** Creates a schedule and returns its id. The fields must include the defaults. */
export async function createSchedule(
  tx: Db,
  fields: Schemas['ScheduleCreate'],
  { caller, now, references: { lists, offer_id = null } }: SaveContext,
): Promise<bigint> {
  const leadToken = fields.lead_token ?? newLeadToken();
  const { id } = await tx.prisma.schedule.create({
    data: {
      ...(toColumns(fields) as Required<ReturnType<typeof toColumns>>),
      ...buildPauseColumns({ paused: false }, fields.paused, { caller, now }),
      offer_id,
      lead_token: leadToken,
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await setLeadToken(tx, { schedule_id: id }, leadToken);
  await attachLists(tx, id, lists);
  return id;
}

interface UpdateContext extends SaveContext {
  queue: Queue;
}

/** Updates a locked schedule. Returns the lead token that became invalid, if any. */
export async function updateSchedule(
  tx: Db,
  id: bigint,
  fields: Schemas['ScheduleUpdate'],
  { caller, now, queue, references: { lists, offer_id } }: UpdateContext,
): Promise<string | undefined> {
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const before = await tx.prisma.schedule.findUniqueOrThrow({
    where,
    select: { paused: true, lead_token: true, triggers: true },
  });
  requireOffer({ ...before, ...fields }, { caller, offer_id });
  const leadToken = fields.reset_lead_token ? newLeadToken() : before.lead_token;
  await tx.prisma.schedule.update({
    where,
    data: {
      ...toColumns(fields),
      ...(offer_id !== undefined && { offer_id }),
      ...buildPauseColumns(before, fields.paused, { caller, now }),
      lead_token: leadToken,
      ...changedAt(now),
    },
  });
  const isReset = leadToken !== before.lead_token;
  if (isReset) await setLeadToken(tx, { schedule_id: id }, leadToken);
  await attachLists(tx, id, lists);
  if (before.paused && fields.paused === false)
    await queue.add(tx, 'resume_leads', {
      company_id: String(tx.company_id),
      schedule_id: String(id),
    });
  return isReset ? before.lead_token : undefined;
}

/** Without an offer, the triggers of a schedule apply to all offers of the company. */
function requireOffer(
  { triggers }: { triggers: unknown },
  { caller, offer_id }: { caller: Caller; offer_id: bigint | null | undefined },
): void {
  const isForAll = offer_id === null && (triggers as unknown[]).length > 0;
  if (isForAll && caller.teams && !isPermitted(caller, COMPANY_WIDE))
    throw HttpProblem.field(
      'offer_id',
      'beyond_your_rights',
      `must be given, as the schedule has triggers: without an offer it needs ${COMPANY_WIDE}`,
    );
}

/** Deletes a locked schedule and queues the removal of its leads. Returns its lead token. */
export async function deleteSchedule(
  tx: Db,
  id: bigint,
  { queue, now }: { queue: Queue; now: Date },
): Promise<string> {
  const { lead_token } = await tx.prisma.schedule.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
  await revokeLeadToken(tx, { schedule_id: id });
  await revokeSourceTokens(tx, { schedule_id: id }, now);
  await tx.prisma.buyerSuppressionSchedule.deleteMany({ where: { schedule_id: id } });
  await queue.add(tx, 'remove_leads', {
    company_id: String(tx.company_id),
    schedule_id: String(id),
  });
  return lead_token;
}

async function attachLists(tx: Db, scheduleId: bigint, lists?: bigint[]): Promise<void> {
  const attached = { buyer_suppression_id: lists ?? [] };
  if (lists)
    await replaceAttached(tx, 'buyer_suppression_schedules', { schedule_id: scheduleId }, attached);
}

function toColumns(fields: Fields) {
  const columns = {
    name: fields.name,
    user_schedule_id: fields.user_schedule_id,
    description: fields.description,
    time_zone: fields.time_zone,
    daylight_hours: fields.daylight_hours,
    business_hours: fields.business_hours_schedule ?? undefined,
    hours_to_expire: fields.hours_to_expire,
    max_contact_attempts: fields.max_contact_attempts,
    from_email: fields.from_email,
    exit_on: fields.exit_on && [...new Set(fields.exit_on)],
    triggers: fields.triggers?.map(({ on, token_filter_list = [] }) => ({ on, token_filter_list })),
    paused: fields.paused,
    external_record_id: fields.external_record_id,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    name?: string;
    time_zone?: string;
    daylight_hours?: string;
    business_hours?: Schemas['ScheduleEntry'][];
  };
}
