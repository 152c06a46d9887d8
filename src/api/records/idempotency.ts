import { createHash } from 'node:crypto';
import type { Operation } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { deriveKey, open, seal } from '../../platform/sealed';
import type { KeyOwner } from './key-owner';
import { LOCK_KEY } from './queries/idempotency';
import { Json } from '../reply/reply';

const MAX_AGE_HOURS = 24;

interface Row {
  operation_id: string;
  request_digest: Uint8Array<ArrayBuffer>;
  status: number;
  /** Encrypted text and headers: an answer may hold a secret that is shown once. */
  answer: Uint8Array<ArrayBuffer>;
  created_at: Date;
}

interface Request {
  operation: Operation;
  key: string;
  owner: KeyOwner;
  /**
   * The token of an operation that needs one, even where credentials of the company own the key.
   */
  lead_token: string | undefined;
  params: unknown;
  query: object;
  body: unknown;
}

export interface Answer {
  status: number;
  text: string;
  headers: Record<string, string>;
  replayed: boolean;
}

export interface Idempotency {
  /**
   * Runs `work` and stores its answer in one transaction: both are committed or neither. A known
   * key of the same owner returns the stored answer. Throws 422 if its owner used the key for
   * another request, and 409 while the first request is still running.
   */
  once(db: Db, request: Request, work: (db: Db) => Promise<unknown>): Promise<Answer>;
}

export function idempotency({ pepper, clock }: { pepper: string; clock: () => Date }): Idempotency {
  // The label is part of the key: another one would make stored answers unreadable.
  const secret = deriveKey(pepper, 'idempotent answers');
  return {
    once: (db, request, work) =>
      db.transaction(async (tx) => {
        const id = identifyKey(db, request);
        await lockKey(tx, id);
        const digest = digestRequest(request);
        const row = await find(tx, id, { digest, now: clock() });
        if (row) return replay(row, { digest, secret, operation: request.operation });
        const answer = toAnswer(await work(tx), request.operation.status);
        const { status, text, headers } = answer;
        await store(tx, id, {
          operation_id: request.operation.id,
          request_digest: new Uint8Array(digest),
          status,
          answer: seal(secret, JSON.stringify({ text, headers })),
          created_at: clock(),
        });
        return answer;
      }),
  };
}

/** Identifies a key among those of its owner: other owners may use an equal key. */
interface KeyId {
  company_id: bigint;
  credential: string;
  key: string;
}

/** Credentials and addresses are stored by their digest. */
export function identifyKey(
  { company_id }: Pick<Db, 'company_id'>,
  { key, owner }: Pick<Request, 'key' | 'owner'>,
): KeyId {
  const { kind, credentials, address } = owner;
  const ownerText = JSON.stringify([credentials, address]);
  const digest = createHash('sha256').update(ownerText).digest('hex');
  return { company_id, credential: `${kind}/${digest}`, key };
}

export const nameLock = ({ company_id, credential, key }: KeyId): string =>
  `${company_id}/${credential}/${key}`;

/** Locks until the transaction ends. Fails at once instead of waiting for a running request. */
async function lockKey(db: Db, id: KeyId): Promise<void> {
  const [lock] = await db.sql(LOCK_KEY, { key: nameLock(id) });
  if (lock?.free) return;
  throw new HttpProblem(
    'request_in_progress',
    'A request with this Idempotency-Key is still running.',
    { headers: { 'Retry-After': '1' } },
  );
}

async function store(db: Db, id: KeyId, row: Row): Promise<void> {
  await db.prisma.idempotencyKey.upsert({
    where: { company_id_credential_key: id },
    create: { ...id, ...row },
    update: row,
  });
}

/** Rows of earlier releases have no credential; their digest was made with that of a key pair. */
const NO_CREDENTIAL = '';

async function find(
  db: Db,
  { company_id, credential, key }: KeyId,
  { digest, now }: { digest: Buffer; now: Date },
): Promise<Row | undefined> {
  const rows = await db.prisma.idempotencyKey.findMany({
    where: { company_id, credential: { in: [credential, NO_CREDENTIAL] }, key },
  });
  const row =
    rows.find((candidate) => candidate.credential === credential) ??
    rows.find(({ request_digest }) => digest.equals(request_digest));
  const maxAgeMs = MAX_AGE_HOURS * 3_600_000;
  return row && now.getTime() - row.created_at.getTime() < maxAgeMs ? row : undefined;
}

function replay(
  row: Row,
  { digest, secret, operation }: { digest: Buffer; secret: Buffer; operation: Operation },
): Answer {
  if (row.operation_id !== operation.id || !digest.equals(row.request_digest)) {
    throw HttpProblem.field(
      'Idempotency-Key',
      'idempotency_conflict',
      'was used within 24 hours for another request; use a new key for a new request',
    );
  }
  return {
    status: row.status,
    replayed: true,
    ...(JSON.parse(open(secret, row.answer)) as Pick<Answer, 'text' | 'headers'>),
  };
}

/** Leaves out the token of a user, who may have replaced it since. */
function digestRequest({ owner, lead_token, params, query, body }: Request): Buffer {
  const { credentials, address } = owner;
  const sender = { credentials, address, lead_token };
  const queryWithoutToken = { ...query, auth_token: undefined };
  return createHash('sha256')
    .update(JSON.stringify([sender, params, queryWithoutToken, body]))
    .digest();
}

function toAnswer(reply: unknown, status: number): Answer {
  return reply instanceof Json
    ? { status: reply.status ?? status, text: reply.text, headers: reply.headers, replayed: false }
    : { status, text: JSON.stringify(reply), headers: {}, replayed: false };
}
