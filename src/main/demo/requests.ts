import type { Request, Response } from 'express';
import type { Caller } from '../../api/auth/caller';
import type { Call } from '../../api/handlers';
import { problemFor } from '../../api/reply/error-handler';
import { Json } from '../../api/reply/reply';
import type { AnyHandler } from '../../api/request/read-call';
import { findReader, type ReadFields } from '../../api/request/reader';
import { IgnoredFields } from '../../api/request/set-aside';
import type { Upload } from '../../api/request/upload';
import type { Db } from '../../data/db';
import type { Deps } from '../../domain/deps';
import type { NewCompany } from '../../operate/installation/create-company';
import { contract, type Operation, type OperationId } from '../../platform/contract/contract';
import { createHandlers } from '../handlers';

/** May contain other requests, which stand for the ids of the records that they have made. */
export type Fields = Readonly<Record<string, unknown>>;
/** Requests by operation, in the order in which they are sent. */
export type Script = Partial<Record<OperationId, Fields[]>>;
export type Ids = Map<unknown, string>;

/** Sends requests of a new company without HTTP: checked by the contract, read by the handlers. */
export interface Sender {
  db: Db;
  ids: Ids;
  send(operationId: OperationId, fields: Fields, upload?: Upload): Promise<void>;
  play(script: Script): Promise<void>;
}

export function createSender(
  deps: Deps,
  db: Db,
  { company, ids }: { company: NewCompany; ids: Ids },
): Sender {
  const handlers = createHandlers(deps);
  const caller = buildCaller(company);
  const send: Sender['send'] = async (operationId, request, upload) => {
    const operation = contract.operations.find(({ id }) => id === operationId)!;
    const isInPath = (name: string) =>
      operation.parameters.some((parameter) => parameter.in === 'path' && parameter.name === name);
    const entries = Object.entries(request).map(
      ([name, value]) => [name, ids.get(value) ?? value] as const,
    );
    const params = Object.fromEntries(entries.filter(([name]) => isInPath(name)));
    // A reader adds defaults: those of one company are not another's.
    const body =
      operation.body &&
      structuredClone(Object.fromEntries(entries.filter(([name]) => !isInPath(name))));
    const headers = body ? { 'content-type': 'application/json' } : {};
    const req = { originalUrl: operation.path, headers, params, query: {}, body };
    const fields = await readFields(operation, req as unknown as Request);
    const call = { db, caller, ...fields, upload, ip: '' };
    const handler = handlers[operationId] as unknown as AnyHandler;
    const ignored = IgnoredFields.forOperation(operation);
    const id = readId(await handler({ ...call, ignored } as unknown as Call<OperationId>));
    if (id !== undefined) ids.set(request, id);
  };
  const play = async (script: Script) => {
    for (const [operationId, requests] of Object.entries(script))
      for (const fields of requests) await send(operationId as OperationId, fields);
  };
  return { db, ids, send, play };
}

/** An HttpProblem would be taken for one of the handler's. */
async function readFields(operation: Operation, req: Request): Promise<ReadFields> {
  const received = { req, res: {} as Response, lead_token: undefined, ignored: undefined };
  try {
    return await findReader(operation)(received);
  } catch (cause) {
    const detail = problemFor(cause, { operation })?.detail;
    throw new Error(`assets/demo.yaml: ${operation.id}: ${detail ?? String(cause)}`, { cause });
  }
}

interface Reply {
  metadata?: { root: string };
  [root: string]: unknown;
}

/** The id of the record in an answer. */
function readId(reply: unknown): string | undefined {
  const answer = (reply instanceof Json ? JSON.parse(reply.text) : reply) as Reply | undefined;
  const record = answer?.[answer.metadata?.root ?? ''] as { id?: number } | undefined;
  return record?.id === undefined ? undefined : String(record.id);
}

/** The company's first key pair. */
const buildCaller = ({ company_id, credentials }: NewCompany): Caller => ({
  company_id,
  company_name: '',
  access_token_id: credentials.id,
  kind: 'key_pair',
  name: 'seed',
  public_key: credentials.public_key,
  credentials: credentials.public_key,
  user_id: null,
  user_email: null,
  superuser: true,
  permissions: new Set(),
});
