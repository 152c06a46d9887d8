import type { Request, Response } from 'express';
import type { Caller } from '../../../api/auth/caller';
import { sessionEnded } from '../../../api/auth/sessions';
import { HttpProblem } from '../../../platform/errors';
import type { Deps } from '../../deps';

/** A request to the console itself, which is no operation of the contract. */
export interface ConsoleCall {
  deps: Deps;
  req: Request;
  res: Response;
  now: Date;
}

/** A person in a company. */
export interface Person {
  company_id: bigint;
  user_id: bigint;
}

/** One whose session the request shows. */
export interface OwnCall extends ConsoleCall {
  caller: Caller;
  person: Person;
}

export const readAddress = ({ req }: Pick<ConsoleCall, 'req'>): string => req.ip ?? '';

/** The database of a person, for a request. */
export const openDb = ({ deps }: Pick<ConsoleCall, 'deps'>, { company_id }: Person) =>
  deps.tenants.ofRequest(company_id, 'usual');

/** The person whose session the request shows; undefined without one that goes on. */
export const findSession = ({ deps, req }: ConsoleCall): Promise<Caller | undefined> =>
  deps.authenticator.sessions.find(req).catch((error: unknown) => {
    if (error instanceof HttpProblem && error.code === 'session_ended') return undefined;
    throw error;
  });

/** Throws 401 without a session, and 403 for a change without its token. */
export async function requireSession(call: ConsoleCall): Promise<OwnCall> {
  const { deps, req, res } = call;
  const { sessions } = deps.authenticator;
  const caller = await sessions.find(req);
  if (!caller || caller.user_id === null) throw sessionEnded();
  res.locals.caller = caller;
  await deps.limits.take(
    { caller, owner: undefined },
    { operation: { power: undefined }, req, res },
  );
  if (req.method !== 'GET' && req.method !== 'HEAD') sessions.requireCsrfToken(req, caller);
  return { ...call, caller, person: { company_id: caller.company_id, user_id: caller.user_id } };
}
