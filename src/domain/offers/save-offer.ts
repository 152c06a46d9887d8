import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import { changeBuyers, replaceAttached } from '../../data/attachments';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt } from '../../data/timestamps';
import type { Caller } from '../../api/auth/caller';
import type { Queue } from '../../data/jobs/queue';
import { buildPauseColumns } from '../people/paused-by';
import { newLeadToken, setLeadToken } from './lead-token';
import { SET_LEAD_TOKEN_POWERS } from './queries/lead-token-powers';

type Fields = Schemas['OfferFields'];

export const OFFER_DEFAULTS = readDefaults('OfferFields') as { time_zone: string; paused: boolean };

interface SaveContext {
  caller: Caller;
  now: Date;
  /** Ids of locked suppression lists to attach; undefined keeps the attached ones. */
  lists: bigint[] | undefined;
}

/** Creates an offer and returns its id. The fields must include the defaults. */
export async function createOffer(
  tx: Db,
  fields: Schemas['OfferCreate'],
  { caller, now, lists }: SaveContext,
): Promise<bigint> {
  const leadToken = fields.lead_token ?? newLeadToken();
  const { id } = await tx.prisma.offer.create({
    data: {
      ...toColumns(fields),
      ...(await resolvePayouts(tx, fields)),
      name: fields.name!,
      time_zone: fields.time_zone ?? OFFER_DEFAULTS.time_zone,
      ...buildPauseColumns({ paused: false }, fields.paused, { caller, now }),
      lead_token: leadToken,
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await setLeadToken(tx, { offer_id: id }, leadToken);
  await savePowers(tx, id, fields);
  await attach(tx, id, fields, lists);
  await grantToTeams(tx, 'offer', id);
  return id;
}

interface UpdateContext extends SaveContext {
  queue: Queue;
}

/** Updates a locked offer. Returns the lead token that became invalid, if any. */
export async function updateOffer(
  tx: Db,
  id: bigint,
  fields: Schemas['OfferUpdate'],
  { caller, now, lists, queue }: UpdateContext,
): Promise<string | undefined> {
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const before = await tx.prisma.offer.findUniqueOrThrow({
    where,
    select: { paused: true, lead_token: true },
  });
  const leadToken = fields.reset_lead_token ? newLeadToken() : before.lead_token;
  await tx.prisma.offer.update({
    where,
    data: {
      ...toColumns(fields),
      ...(await resolvePayouts(tx, fields)),
      ...buildPauseColumns(before, fields.paused, { caller, now }),
      lead_token: leadToken,
      ...changedAt(now),
    },
  });
  const isReset = leadToken !== before.lead_token;
  if (isReset) await setLeadToken(tx, { offer_id: id }, leadToken);
  await savePowers(tx, id, fields);
  await attach(tx, id, fields, lists);
  if (before.paused && fields.paused === false)
    await queue.add(tx, 'resume_leads', {
      company_id: String(tx.company_id),
      offer_id: String(id),
    });
  return isReset ? before.lead_token : undefined;
}

const COLUMNS = [
  'name',
  'user_offer_id',
  'description',
  'time_zone',
  'paused',
  'external_record_id',
  'greeting_message',
  'fallback_type',
  'fallback_message',
  'fallback_number',
  'callback_behavior',
  'skip_duplicates',
  'spacing_seconds',
  'payouts',
  'abandoned_message',
] as const satisfies readonly (keyof Fields)[];

const toColumns = (fields: Fields) =>
  Object.fromEntries(
    COLUMNS.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );

/** Replaces references to traffic sources by their ids. */
async function resolvePayouts(db: Db, { payouts }: Fields): Promise<Pick<Fields, 'payouts'>> {
  if (!payouts) return {};
  const resolvedPayouts = [];
  for (const [n, payout] of payouts.entries()) {
    const { traffic_source_id: source } = payout;
    const field = `payouts.${n}.traffic_source_id`;
    const [id] =
      source === null || source === undefined
        ? []
        : await resolveReferences(db, 'traffic_sources', [source], { field });
    resolvedPayouts.push(id === undefined ? payout : { ...payout, traffic_source_id: Number(id) });
  }
  return { payouts: resolvedPayouts };
}

/** In SQL: Prisma cannot set a list to null. */
async function savePowers(
  { sql }: Db,
  id: bigint,
  { lead_token_powers: powers }: Fields,
): Promise<void> {
  if (powers === undefined) return;
  await sql(SET_LEAD_TOKEN_POWERS, { id, powers: powers && [...new Set(powers)] });
}

/** In the order of locks: suppression lists, groups, buyers. */
async function attach(
  db: Db,
  offerId: bigint,
  fields: Fields,
  lists: bigint[] | undefined,
): Promise<void> {
  const offer = { offer_id: offerId };
  if (lists)
    await replaceAttached(db, 'buyer_suppression_offers', offer, { buyer_suppression_id: lists });
  if (fields.buyer_group_ids !== undefined) {
    const groups = fields.buyer_group_ids ?? [];
    const field = 'buyer_group_ids';
    const buyerGroupId = await resolveReferences(db, 'buyer_groups', groups, { field });
    await replaceAttached(db, 'offer_buyer_groups', offer, { buyer_group_id: buyerGroupId });
  }
  await changeBuyers(db, 'offer_buyers', offerId, fields);
}
