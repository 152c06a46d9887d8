import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../app';
import type { Deps } from '../../domain/deps';
import { issueCredentials, revokeCredentials } from '../../domain/people/issue-credentials';
import type { SourceRecord } from '../../operate/migration/reader';
import type { Faults, Target } from '../../operate/migration/target';

const DAY_MS = 86_400_000;
/** Malformed, or too large: another record may be neither. */
const REFUSED_AS_A_WHOLE = new Set([400, 413]);

/**
 * This installation, through its own operations: their checks, derived values and counts also apply
 * to moved records. The requests come from this process, with credentials that end with the work.
 */
export async function withTarget<T>(
  deps: Deps,
  companyId: bigint,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const limits = { ...deps.limits, take: () => undefined };
  // The operator moves the account, however large its ids are.
  const server = createServer(createApp(deps, undefined, { limits, id_reach: null }));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  const db = deps.tenants.of(companyId);
  const now = deps.clock();
  const { id, public_key, private_key } = await db.transaction((tx) =>
    issueCredentials(
      tx,
      {
        name: 'Migration',
        kind: 'key_pair',
        permissions: [],
        superuser: true,
        expires_at: new Date(now.getTime() + DAY_MS),
      },
      { pepper: deps.pepper, now },
    ),
  );
  try {
    return await work(targetAt(base, Buffer.from(`${public_key}:${private_key}`)));
  } finally {
    await db.transaction((tx) => revokeCredentials(tx, id, deps.clock()));
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

function targetAt(base: string, key: Buffer): Target {
  const headers = {
    authorization: `Basic ${key.toString('base64')}`,
    'content-type': 'application/json',
  };
  const send = async (method: string, path: string, body: object) => {
    const request = { method, headers, body: JSON.stringify(body) };
    const reply = await fetch(`${base}/${path}`, request);
    return { status: reply.status, answer: (await reply.json()) as SourceRecord };
  };
  const write = async (method: string, path: string, body: object): Promise<Faults> => {
    const { status, answer } = await send(method, path, body);
    if (status < 300) return undefined;
    if (status === 422) return answer.errors as Record<string, string[]>;
    if (REFUSED_AS_A_WHOLE.has(status)) return { '': [String(answer.message)] };
    throw new Error(`${path} cannot be written here: ${String(answer.message)}`);
  };
  return {
    find: async (resource, id) => {
      const reply = await fetch(`${base}/${resource}/${id}`, { headers });
      const body = (await reply.json()) as SourceRecord;
      if (reply.status === 404) return undefined;
      if (!reply.ok) throw new Error(`${resource} ${id}: ${String(body.message)}`);
      return Object.values(body).find(isRecord);
    },
    create: (resource, body) => write('POST', resource, body),
    update: (path, body) => write('PUT', path, body),
    add: async (path, body) => {
      const { status, answer } = await send('POST', path, body);
      if (status === 422 || REFUSED_AS_A_WHOLE.has(status)) {
        const errors = (answer.errors ?? {}) as Record<string, string[]>;
        const faults = Object.values(errors).map((messages) => messages.join('; '));
        return { isRefused: true, faults: faults.length > 0 ? faults : [String(answer.message)] };
      }
      if (status >= 300) throw new Error(`${path}: ${String(answer.message)}`);
      const { rejected = [] } = answer as { rejected?: Record<string, string>[] };
      const faults = rejected.map((line) => Object.values(line).join(': '));
      return { isRefused: false, faults };
    },
  };
}

const isRecord = (value: unknown): value is SourceRecord =>
  typeof value === 'object' && value !== null && 'legacy_id' in value;
