import type { Request, Response } from 'express';
import type { Operation, OperationId } from '../contract';
import { withContext } from '../db/tenant';
import { requireVisibleReferences } from './access-scope';
import type { Pipeline } from './adapt';
import { accessScopeOf } from './auth/caller';
import type { Authenticated } from './auth/scheme';
import { problemFor } from './error-handler';
import { Faults } from './faults';
import type { Call } from './handlers';
import { mergeQueryAndBody, type Fields } from './merge';
import { requireFieldPermissions } from './field-permissions';
import { normalize } from './normalize';
import { isObject } from './normalize-value';
import { isMultipart, type Upload } from './upload';
import { SetAside } from './set-aside';
import { requireWellFormed, storableFields } from './well-formed';
import type { Validator } from './validate';

interface Received {
  operation: Operation;
  req: Request;
  res: Response;
  upload: Upload | undefined;
  sender: Authenticated;
}

/** Reads a request into the contract's types. Throws a problem that names every wrong field. */
export async function readCall(
  { operation, req, res, upload, sender }: Received,
  pipeline: Pick<Pipeline, 'validate' | 'tenants'>,
): Promise<Call<OperationId>> {
  const aside = SetAside.of(operation);
  if (aside) repair(req, aside);
  requireWellFormed(req.query, 'query');
  requireWellFormed(req.body, 'body');
  const sent = operation.merged ? mergeQueryAndBody(req, operation) : fieldsOf(req);
  const input = normalize(operation, {
    ...sent,
    params: req.params as Record<string, string>,
    body_schema: isMultipart(req) ? operation.multipart : operation.body,
  });
  Object.assign(req, { query: input.query, body: input.body });
  const checked = { operation, req, res, unreadable: input.faults };
  if (aside) await validateOthers(pipeline.validate, { ...checked, aside, sent });
  else await validateAll(pipeline.validate, checked);

  const { caller } = sender;
  const accessScope = accessScopeOf(caller, operation.scope);
  const purpose = operation.routes ? 'routing' : 'usual';
  const company_db = pipeline.tenants.ofRequest(caller.company_id, purpose);
  const db = accessScope ? withContext(company_db, { accessScope }) : company_db;
  const params = req.openapi!.pathParams;
  const named = { operation, params, body: req.body as unknown };
  await requireVisibleReferences(db, caller, named).catch((error: unknown) => {
    if (!aside) throw error;
    aside.take(error, named.body as Record<string, unknown>);
  });
  await requireFieldPermissions(db, caller, named);
  return {
    params,
    query: req.query,
    body: req.body,
    upload,
    if_match: checksumOf(req.headers['if-match']),
    if_none_match: checksumOf(req.headers['if-none-match']),
    last_event_id: req.get('Last-Event-ID'),
    ...sender,
    aside,
    ip: req.ip ?? '',
    db,
  } as unknown as Call<OperationId>;
}

/** A blank `auth_token` is none, and the validator would refuse it. */
function fieldsOf({ query, body }: Request): Fields {
  const { auth_token, ...others } = query;
  return { query: auth_token === '' ? others : query, body: body as unknown };
}

interface Checked {
  operation: Operation;
  req: Request;
  res: Response;
  /** What could not be read already. */
  unreadable: Faults;
}

/** Names everything that is wrong at once: what could not be read, and what is not allowed. */
async function validateAll(
  validate: Validator,
  { operation, req, res, unreadable }: Checked,
): Promise<void> {
  try {
    await validate(operation, req, res);
  } catch (error) {
    const problem = problemFor(error, { operation });
    if (problem?.status !== 422) throw error;
    throw unreadable.with(problem);
  }
  const problem = unreadable.problem();
  if (problem) throw problem;
}

interface LenientlyChecked extends Checked {
  aside: SetAside;
  /** What was sent, before it was turned into the types of the contract. */
  sent: Fields;
}

/** Sets aside what is wrong, until the rest is right. */
async function validateOthers(
  validate: Validator,
  { aside, sent, ...checked }: LenientlyChecked,
): Promise<void> {
  const { req } = checked;
  for (let { unreadable } = checked; ; unreadable = new Faults())
    try {
      return await validateAll(validate, { ...checked, unreadable });
    } catch (error) {
      if (!isObject(req.body) || !isObject(sent.body)) throw error;
      aside.take(error, req.body, sent.body);
    }
}

/** Replaces what cannot be stored. */
function repair(req: Request, aside: SetAside): void {
  const faults = new Faults();
  const [query, body] = [req.query, req.body as unknown].map((part) =>
    storableFields(part, faults),
  );
  Object.assign(req, { query, body });
  aside.note(faults.fields);
}

/** `"abc"`, `W/"abc"` and `abc` alike. */
const checksumOf = (header: string | undefined): string | undefined =>
  header?.replace(/^W\//, '').replaceAll('"', '').trim();
