import type { Db } from '../../data/db';
import { lockContacts } from './change-contacts';
import type { Owner } from './lead-owner';
import {
  FIND_OFFER_OF_SCHEDULE,
  RECORD_RESTRICTED_OPT_OUT,
  RESTRICT_AT_OFFER,
  RESTRICT_IN_SCHEDULE,
  STOP_RESTRICTED_LEADS,
} from './queries/restrict-contact';

interface Restriction {
  change: 'block' | 'opt_out';
  /** E.164 digits. */
  number: number;
  /** The offer or schedule of the lead token that requests it. */
  owner: Pick<Owner, 'offer_id' | 'schedule_id'>;
  now: Date;
  ip: string;
}

const CHANGES = {
  block: { status: 'blocked', event: 'blocked' },
  opt_out: { status: 'opt_out', event: 'opted_out' },
} as const;

/**
 * Blocks a number or opts it out for one offer or schedule, and stops its live leads there. A lead
 * token may do no more, because everyone who has seen the form knows the token. A block applies to
 * the offer, so that calls to it are refused too, and to a schedule only if that has no offer. Must
 * run in a transaction; the contact is locked first, as in `changeContacts`.
 */
export async function restrictContact(
  { sql }: Pick<Db, 'sql'>,
  { change, number, owner, now, ip }: Restriction,
): Promise<void> {
  await lockContacts(sql, [number], now);
  const at = await findRestrictionScope(sql, change, owner);
  const row = { caller_number: number, blocked: change === 'block', opt_out: change === 'opt_out' };
  const [restricted] =
    at.offer_id !== null
      ? await sql(RESTRICT_AT_OFFER, { ...row, offer_id: at.offer_id, now })
      : await sql(RESTRICT_IN_SCHEDULE, { ...row, schedule_id: at.schedule_id, now });
  await sql(STOP_RESTRICTED_LEADS, {
    ...at,
    ...CHANGES[change],
    caller_number: number,
    message: 'asked for by lead_token',
    details: JSON.stringify({ ip }),
    now,
  });
  if (restricted?.opts_out) await sql(RECORD_RESTRICTED_OPT_OUT, { ...at, caller_number: number });
}

type RestrictionScope = Restriction['owner'];

async function findRestrictionScope(
  sql: Db['sql'],
  change: Restriction['change'],
  { offer_id, schedule_id }: RestrictionScope,
): Promise<RestrictionScope> {
  if (schedule_id === null) return { offer_id, schedule_id };
  const ofSchedule = { offer_id: null, schedule_id };
  if (change === 'opt_out') return ofSchedule;
  const [schedule] = await sql(FIND_OFFER_OF_SCHEDULE, { schedule_id });
  const targetOffer = offer_id ?? schedule?.offer_id ?? null;
  return targetOffer === null ? ofSchedule : { offer_id: BigInt(targetOffer), schedule_id: null };
}
