import type { Request, Response } from 'express';
import type { Operation, OperationId } from '../contract';
import { withContext } from '../db/tenant';
import { requireVisibleReferences } from './access-scope';
import { requireVisibleSides, requireWritableSides, withoutHidden } from './sides';
import type { Pipeline } from './adapt';
import { accessScopeOf } from './auth/caller';
import type { Authenticated } from './auth/scheme';
import { problemFor } from './error-handler';
import type { Faults } from './faults';
import type { Call } from './handlers';
import { mergeQueryAndBody, type Fields } from './merge';
import { requireFieldPermissions } from './field-permissions';
import { normalize } from './normalize';
import { isMultipart, type Upload } from './upload';
import { requireWellFormed } from './well-formed';
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
  requireWellFormed(req.query, 'query');
  requireWellFormed(req.body, 'body');
  const sent = operation.merged ? mergeQueryAndBody(req, operation) : fieldsOf(req);
  const input = normalize(operation, {
    ...sent,
    params: req.params as Record<string, string>,
    body_schema: isMultipart(req) ? operation.multipart : operation.body,
  });
  Object.assign(req, { query: input.query, body: input.body });
  await validateAll(pipeline.validate, { operation, req, res, unreadable: input.faults });

  const { caller } = sender;
  const accessScope = accessScopeOf(caller, operation.scope);
  const purpose = operation.routes ? 'routing' : 'usual';
  const company_db = pipeline.tenants.ofRequest(caller.company_id, purpose);
  const db = accessScope ? withContext(company_db, { accessScope }) : company_db;
  const params = req.openapi!.pathParams;
  const named = { operation, params, body: req.body as unknown };
  await requireVisibleReferences(db, caller, named);
  await requireFieldPermissions(db, caller, named);
  await requireVisibleSides(db, operation, req.query);
  await requireWritableSides(db, operation, named);
  return {
    params,
    query: req.query,
    body: await withoutHidden(db, operation, req.body as unknown),
    upload,
    if_match: checksumOf(req.headers['if-match']),
    if_none_match: checksumOf(req.headers['if-none-match']),
    last_event_id: req.get('Last-Event-ID'),
    ...sender,
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

/** `"abc"`, `W/"abc"` and `abc` alike. */
const checksumOf = (header: string | undefined): string | undefined =>
  header?.replace(/^W\//, '').replaceAll('"', '').trim();
