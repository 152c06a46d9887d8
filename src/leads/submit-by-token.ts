import { withContext, type Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Call } from '../http/handlers';
import { actsForCompany, type LeadOwner } from '../http/auth/lead-tokens';
import { isExternal, isGrid, requireUnchanged } from '../http/record';
import { numberReader } from '../phone/parse-number';
import { leadProjection as projection } from './columns';
import { findLead, type Owner } from './lead-owner';
import { loadRecord } from './load-record';
import type { SentLead } from './read-submission';
import { mayUnblock, submitLead, type SubmittedLead } from './submit-lead';
import { readsByToken, requireFieldPowers } from './token-powers';

/**
 * Takes the lead that a lead token submits. Without other credentials the sender sees nothing that
 * the request itself has not sent.
 */
export async function submitByToken(
  { body, db, owner, caller, ip }: Call<'submitLead'>,
  { clock, limits }: Pick<Deps, 'clock' | 'limits'>,
): Promise<SubmittedLead> {
  const { serializer, ...sent } = body;
  const token = owner!;
  requireFieldPowers(sent, token, caller);
  const now = clock();
  if (db.log) await logEarlier(db, { owner: token, number: numberOf(sent, token), now });
  const form = { grid: isGrid(serializer), external: isExternal(serializer) };
  const for_company = actsForCompany(caller);
  const submitted = await submitLead(
    db,
    sent,
    {
      owner: token,
      ip,
      may_unblock: mayUnblock(caller),
      for_company,
      admit: (number) => limits.takeNumber({ owner: token, caller, number }),
      credentials: caller.name === '' ? 'lead token' : caller.name,
      form: { ...form, by_token: await readsByToken(db, caller) },
    },
    { clock },
  );
  await logLater(db, submitted.id, now);
  const is_limited = caller.teams !== undefined;
  if (!is_limited || (await readsByToken(db, caller, BigInt(submitted.id)))) return submitted;
  return { ...submitted, record: await wholeRecord(db, submitted.id, { ...form, now }) };
}

/** The number of a submission that has not been read yet; undefined where it cannot be known. */
export function numberOf(sent: SentLead, { country }: Pick<Owner, 'country'>): number | undefined {
  const { phone } = sent as { phone?: unknown };
  const text = sent.caller_id ?? phone;
  return typeof text === 'string' || typeof text === 'number'
    ? numberReader(country)(String(text))
    : undefined;
}

interface Earlier {
  owner: Pick<LeadOwner, 'offer_id' | 'schedule_id'>;
  number: number | undefined;
  now: Date;
}

/** Hands the lead of the number as it is before to the change log. */
export async function logEarlier(db: Db, { owner, number, now }: Earlier): Promise<void> {
  const earlier = number === undefined ? undefined : await findLead(db, owner, number);
  if (earlier === undefined) return;
  await requireUnchanged({ db, now, projection, if_match: undefined }, String(earlier));
}

/** Hands the lead as it is now to the change log: the reply may hide parts of it. */
async function logLater(db: Db, id: string, now: Date): Promise<void> {
  if (db.log) db.log.after(await wholeRecord(db, id, { grid: false, external: false, now }));
}

const wholeRecord = (
  db: Db,
  id: string,
  { now, ...form }: { grid: boolean; external: boolean; now: Date },
): Promise<string> =>
  loadRecord(withContext(db, { accessScope: undefined }), id, {
    form: { ...form, by_token: false },
    now: now.toISOString(),
    sent: {},
  });
