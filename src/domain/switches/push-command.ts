import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { buildSignatureHeaders, deriveKeys } from '../../platform/egress/standard-webhooks';
import { parseForeignJson } from '../../platform/storable-text';
import type { Deps } from '../deps';
import { readCommand } from './commands';
import { READ_PUSH } from './queries/commands';
import { saveResult } from './save-result';

type Context = Pick<Deps, 'tenants' | 'clock' | 'request' | 'pepper'>;

const TIMEOUT_MS = 5_000;

/**
 * Sends a command to the URL of its switch, signed, until it is received, answered or has expired.
 * A reply with a `result` is the result; any other with a status 2xx means that it is done. Throws
 * so that the job is run again.
 */
export async function pushCommand(
  { company_id, switch_id, command_id }: Tasks['push_switch_command'],
  { signal }: JobContext,
  { tenants, clock, request, pepper }: Context,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const now = clock();
  const key = { switch_id, command_id };
  const [push] = await db.sql(READ_PUSH, { ...key, now });
  const command = push && (await readCommand(db, key, now));
  if (!command) return;
  signal.throwIfAborted();
  const body = JSON.stringify(command);
  const id = `switch_${switch_id}_${command_id}`;
  const answer = await request({
    url: push.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...buildSignatureHeaders(deriveKeys(pepper, push, now), { id, at: now, body }),
    },
    body,
    timeout_ms: TIMEOUT_MS,
    is_urgent: true,
  });
  if (!answer.ok || answer.code < 200 || answer.code > 299)
    throw new Error(`the command was not received: ${answer.ok ? answer.code : answer.reason}`);
  await saveResult(db, key, readResult(answer.body), clock());
}

function readResult(body: string): { result: 'done' | 'failed'; reason: string | null } {
  const { result, reason } = (parseForeignJson(body) ?? {}) as {
    result?: unknown;
    reason?: unknown;
  };
  return result === 'failed'
    ? { result, reason: typeof reason === 'string' ? reason : null }
    : { result: 'done', reason: null };
}
