import { createHmac } from 'node:crypto';
import type { Deps } from '../../deps';
import { toNetwork } from '../../../api/auth/address';
import { HttpProblem } from '../../../platform/errors';
import { FORGIVE_ATTEMPTS, TAKE_ATTEMPTS } from '../queries/sign-in';

// Guesses are counted in the database, for all processes together: at what is guessed, whether it
// exists or not, and by the network that guesses.

type Context = Pick<Deps, 'database' | 'pepper' | 'clock'>;

/** A guess, by what it is at; or a mail that is asked for. */
export type Guess =
  | { kind: 'password'; email: string }
  | { kind: 'code' | 'own_password'; company_id: bigint; user_id: bigint }
  | { kind: 'link'; email: string }
  | { kind: 'token' };

interface Limit {
  /** Guesses that need not wait. */
  free: number;
  hours: number;
}

const LIMITS: Record<Exclude<Guess['kind'], 'token'>, Limit> = {
  password: { free: 10, hours: 24 },
  code: { free: 5, hours: 24 },
  own_password: { free: 10, hours: 24 },
  link: { free: 5, hours: 1 },
};
/** An office has one network for many people. */
const NETWORK: Limit = { free: 100, hours: 1 };

export interface Attempt {
  /** The guess was right: it does not count. */
  succeed(): Promise<void>;
}

/** Counts a guess. Throws 429 while its subject must wait. */
export async function takeAttempt(
  { database, pepper, clock }: Context,
  guess: Guess,
  ip: string,
): Promise<Attempt> {
  const digest = (text: string) =>
    createHmac('sha256', pepper).update(`attempt/${text}`).digest('base64url');
  const network = { subject: `network/${digest(toNetwork(ip))}`, ...NETWORK };
  const own =
    guess.kind === 'token'
      ? undefined
      : { subject: `${guess.kind}/${digest(describe(guess))}`, ...LIMITS[guess.kind] };
  const limits = [...(own ? [own] : []), network].toSorted((a, b) =>
    a.subject < b.subject ? -1 : 1,
  );
  const subjects = limits.map(({ subject }) => subject);
  const [row] = await database.sql(TAKE_ATTEMPTS, {
    subjects,
    free_guesses: limits.map(({ free }) => free),
    window_hours: limits.map(({ hours }) => hours),
    now: clock().toISOString(),
  });
  const seconds = row!.wait_seconds!;
  if (seconds > 0)
    throw new HttpProblem(
      'too_many_attempts',
      `Too many attempts: the next one is possible in ${seconds} seconds.`,
      { headers: { 'Retry-After': String(seconds) } },
    );
  return {
    succeed: async () =>
      void (await database.sql(FORGIVE_ATTEMPTS, { subjects, own: own?.subject ?? '' })),
  };
}

const describe = (guess: Exclude<Guess, { kind: 'token' }>): string =>
  'email' in guess ? guess.email : `${guess.company_id}/${guess.user_id}`;
