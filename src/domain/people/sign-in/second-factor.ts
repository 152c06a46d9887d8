import type { Db } from '../../../data/db';
import { sessionEnded } from '../../../api/auth/sessions';
import { HttpProblem } from '../../../platform/errors';
import {
  CONFIRM_SECOND_FACTOR,
  LOCK_PERSON,
  TAKE_RECOVERY_CODE,
  TAKE_STEP,
} from '../queries/sign-in';
import { requirePerson } from './account';
import { takeAttempt } from './attempts';
import { openDb, readAddress, type ConsoleCall, type OwnCall, type Person } from './console-call';
import { loadLogin, NO_SECOND_FACTOR, saveLogin } from './login';
import { requirePending } from './pending';
import { beginSession, type ConsoleReply } from './sign-in';
import { logChange } from './start-session';
import { describeSignedIn } from './state';
import { digestRecoveryCode, findStep, newRecoveryCodes, proposeSecret } from './totp';

// The second factor: a code of an app, each of which is taken once, or one of ten recovery codes.

const wrongCode = (): HttpProblem =>
  HttpProblem.field('code', 'wrong_credentials', 'is wrong, was used already, or is too old');

const wrongState = (detail: string): HttpProblem => new HttpProblem('wrong_state', detail);

/** The end of a sign-in that waits for a code. */
export async function enterCode(
  call: ConsoleCall,
  { code }: { code: string },
): Promise<ConsoleReply> {
  const { people, method, begun_at, identity } = requirePending(call);
  const [person] = people;
  if (people.length !== 1) throw sessionEnded();
  const start = { method, begun_at, identity, second_factor: true };
  return withCode(call, person!, code, (takeCode) => beginSession(call, person!, start, takeCode));
}

/**
 * Does the work whose transaction takes the code first. Throws 401 for a wrong code or one that
 * was taken, and 429 after too many.
 */
async function withCode<T>(
  call: ConsoleCall,
  person: Person,
  code: string,
  work: (takeCode: (tx: Db) => Promise<void>) => Promise<T>,
): Promise<T> {
  const attempt = await takeAttempt(call.deps, { kind: 'code', ...person }, readAddress(call));
  const result = await work((tx) => takeCode(tx, call, { ...person, code }));
  await attempt.succeed();
  return result;
}

async function takeCode(
  tx: Db,
  { deps, now }: ConsoleCall,
  { code, ...person }: Person & { code: string },
): Promise<void> {
  const { user_id } = person;
  await tx.sql(LOCK_PERSON, { user_id });
  const login = await loadLogin(tx, user_id);
  if (!login.totp_secret || !login.totp_confirmed_at) throw sessionEnded();
  const digits = code.replace(/\s/g, '');
  if (/^\d{6}$/.test(digits)) {
    const step = findStep(login.totp_secret, digits, { pepper: deps.pepper, now });
    if (step === undefined) throw wrongCode();
    const [taken] = await tx.sql(TAKE_STEP, { user_id, step });
    if (!taken) throw wrongCode();
    return;
  }
  const digest = digestRecoveryCode(code, person, deps.pepper);
  const [taken] = await tx.sql(TAKE_RECOVERY_CODE, { user_id, digest });
  if (!taken) throw wrongCode();
}

/** Proposes a secret, which counts from its first right code on. */
export async function proposeSecondFactor(
  call: OwnCall,
  { password }: { password: string | undefined },
): Promise<ConsoleReply> {
  const { deps, person } = call;
  const db = openDb(call, person);
  const login = await loadLogin(db, person.user_id);
  if (login.totp_confirmed_at) throw wrongState('There is a second factor: remove it first.');
  await requirePerson(call, login, { field: 'password', password });
  const { sealed, shown } = proposeSecret(login.email, login.company_name, deps.pepper);
  await db.transaction(async (tx) => {
    await tx.sql(LOCK_PERSON, { user_id: person.user_id });
    const current = await loadLogin(tx, person.user_id);
    if (current.totp_confirmed_at) throw wrongState('There is a second factor: remove it first.');
    await saveLogin(tx, person.user_id, { totp_secret: sealed });
  });
  return { status: 201, body: shown };
}

/** The first code of a proposed secret: from now on, codes are asked for. Shows recovery codes. */
export async function confirmSecondFactor(
  call: OwnCall,
  { code }: { code: string },
): Promise<ConsoleReply> {
  const { deps, person, now } = call;
  const attempt = await takeAttempt(deps, { kind: 'code', ...person }, readAddress(call));
  const codes = newRecoveryCodes();
  await openDb(call, person).transaction(async (tx) => {
    await tx.sql(LOCK_PERSON, { user_id: person.user_id });
    const { totp_secret, totp_confirmed_at } = await loadLogin(tx, person.user_id);
    if (totp_confirmed_at || !totp_secret)
      throw wrongState('There is nothing to confirm: begin to set up a second factor.');
    const digits = code.replace(/\s/g, '');
    const step = findStep(totp_secret, digits, { pepper: deps.pepper, now });
    if (step === undefined) throw wrongCode();
    await tx.sql(CONFIRM_SECOND_FACTOR, { user_id: person.user_id, step, now: now.toISOString() });
    await saveCodes(tx, call, codes);
    await logSecondFactor(tx, call, true);
  });
  await attempt.succeed();
  return { status: 201, body: { recovery_codes: codes } };
}

/** New recovery codes; those of before are void. */
export async function renewRecoveryCodes(
  call: OwnCall,
  { code }: { code: string },
): Promise<ConsoleReply> {
  const codes = newRecoveryCodes();
  await withCode(call, call.person, code, (take) =>
    openDb(call, call.person).transaction(async (tx) => {
      await take(tx);
      await saveCodes(tx, call, codes);
      await logSecondFactor(tx, call, true);
    }),
  );
  return { status: 201, body: { recovery_codes: codes } };
}

export async function removeSecondFactor(
  call: OwnCall,
  { code }: { code: string },
): Promise<ConsoleReply> {
  await withCode(call, call.person, code, (take) =>
    openDb(call, call.person).transaction(async (tx) => {
      await take(tx);
      await saveLogin(tx, call.person.user_id, NO_SECOND_FACTOR);
      await logSecondFactor(tx, call, false);
    }),
  );
  return { status: 200, body: await describeSignedIn(call, call.caller) };
}

const saveCodes = (tx: Db, { person, deps }: OwnCall, codes: readonly string[]): Promise<void> =>
  saveLogin(tx, person.user_id, {
    recovery_digests: codes.map(
      (code) => new Uint8Array(digestRecoveryCode(code, person, deps.pepper)),
    ),
  });

const logSecondFactor = (tx: Db, call: OwnCall, isOn: boolean): Promise<void> =>
  logChange(tx, call, {
    record: { type: 'User', id: call.person.user_id },
    action: 'update',
    operation: 'changeSecondFactor',
    changes: { has_second_factor: { from: null, to: isOn } },
    by: {
      user_id: call.person.user_id,
      user_email: call.caller.user_email,
      access_token_id: call.caller.access_token_id,
    },
  });
