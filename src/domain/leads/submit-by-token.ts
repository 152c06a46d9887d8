import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Call } from '../../api/handlers';
import type { Caller } from '../../api/auth/caller';
import { type LeadOwner } from '../../api/auth/scheme';
import {
  isExternal,
  isGrid,
  logChanged,
  readRecord,
  requireUnchanged,
} from '../../api/records/record';
import { numberReader } from '../../data/phone/parse-number';
import { leadProjection as projection } from './columns';
import { findLead, type Owner } from './lead-owner';
import type { SentLead } from './read-submission';
import { mayUnblock, submitLead, type SubmittedLead } from './submit-lead';
import {
  actsForCompany,
  readsByToken,
  requireTokenFieldPermissions,
} from '../../api/access/lead-token-permissions';

/**
 * Submits a lead by lead token. Without other credentials the sender is shown only what the request
 * itself contains.
 */
export async function submitByToken(
  { body, db, owner, caller, ip, ignored }: Call<'submitLead'>,
  { clock, limits }: Pick<Deps, 'clock' | 'limits'>,
): Promise<SubmittedLead> {
  const { serializer, ...fields } = body;
  const token = owner!;
  requireTokenFieldPermissions(fields, token, caller);
  const now = clock();
  const number = readSubmittedNumber(fields, token);
  if (db.log) await logPreviousLead(db, { owner: token, number, now, caller });
  const form = { grid: isGrid(serializer), external: isExternal(serializer) };
  const forCompany = actsForCompany(caller);
  const submitted = await submitLead(
    db,
    fields,
    {
      owner: token,
      ip,
      may_unblock: mayUnblock(caller),
      for_company: forCompany,
      checkRateLimit: (number) => limits.takeNumber({ owner: token, caller, number }),
      credentials: caller.name === '' ? 'lead token' : caller.name,
      ignored: ignored!,
      form: { ...form, by_token: await readsByToken(db, caller) },
    },
    { clock },
  );
  if (!caller.teams && !db.log) return submitted;
  const byToken = await readsByToken(db, caller, BigInt(submitted.id));
  await ignoreDeletedLead(logChanged({ db, now, projection, by_token: byToken }, submitted.id));
  if (!caller.teams || byToken) return submitted;
  return {
    ...submitted,
    record: await readRecord({ db, now, projection, serializer }, submitted.id),
  };
}

/** The number of a submission before it is validated; undefined when it cannot be read. */
export function readSubmittedNumber(
  fields: SentLead,
  { country }: Pick<Owner, 'country'>,
): number | undefined {
  const { phone } = fields as { phone?: unknown };
  const text = fields.caller_id ?? phone;
  return typeof text === 'string' || typeof text === 'number'
    ? numberReader(country)(String(text))
    : undefined;
}

interface PreviousLead {
  owner: Pick<LeadOwner, 'offer_id' | 'schedule_id'>;
  number: number | undefined;
  now: Date;
  /** The sender of a submission by token. Absent for a capture, whose caller sees the lead. */
  caller?: Caller;
}

/** Passes the current state of the number's lead to the change log, before the lead changes. */
export async function logPreviousLead(
  db: Db,
  { owner, number, now, caller }: PreviousLead,
): Promise<void> {
  const earlier = number === undefined ? undefined : await findLead(db, owner, number);
  if (earlier === undefined) return;
  const byToken = caller ? await readsByToken(db, caller, earlier) : false;
  const options = { db, now, projection, if_match: undefined, by_token: byToken };
  await ignoreDeletedLead(requireUnchanged(options, String(earlier)));
}

/** Another submission may delete a lead at any time: that must not fail this one. */
export async function ignoreDeletedLead(logging: Promise<void>): Promise<void> {
  await logging.catch((error: unknown) => {
    if (!(error instanceof HttpProblem && error.code === 'not_found')) throw error;
  });
}
