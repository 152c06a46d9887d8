import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Operation } from '../contract';
import type { Sql } from '../db/sql';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { DELETE_EXPIRED_ANSWERS, LOCK_KEY } from './queries/idempotency';
import { Json } from './reply';

const MAX_AGE_HOURS = 24;

interface Row {
  operation_id: string;
  request_digest: Uint8Array<ArrayBuffer>;
  status: number;
  /** Encrypted text and headers. */
  answer: Uint8Array<ArrayBuffer>;
  created_at: Date;
}

/** Whose key it is. */
export interface KeyOwner {
  /** Another sender's request with the same key is another request. */
  credentials: string;
  /** Where others have the same credentials: their key of the same name is another one. */
  address?: string;
}

interface Request {
  operation: Operation;
  key: string;
  sender: KeyOwner;
  params: unknown;
  query: unknown;
  body: unknown;
}

export interface Answer {
  status: number;
  text: string;
  headers: Record<string, string>;
  replayed: boolean;
}

/** Runs a request under its Idempotency-Key. */
export interface Idempotency {
  /**
   * Runs `work` and stores its answer in one transaction: both are committed or neither. A known
   * key returns the stored answer. Throws 422 if the key was used for another request, and 409
   * while the first request is still running.
   */
  once(db: Db, request: Request, work: (db: Db) => Promise<unknown>): Promise<Answer>;
}

export function idempotency({ pepper, clock }: { pepper: string; clock: () => Date }): Idempotency {
  // The label is part of the key: another one would make stored answers unreadable.
  const secret = Buffer.from(hkdfSync('sha256', pepper, '', 'idempotent answers', 32));
  return {
    once: (db, request, work) =>
      db.transaction(async (tx) => {
        const key = storedKeyOf(request);
        await lockKey(tx, key);
        const found = await find(tx, key, clock());
        const digest = digestOf(request);
        if (found) return replay(found, { digest, secret, operation: request.operation });
        const answer = answerOf(await work(tx), request.operation.status);
        const { status, text, headers } = answer;
        await store(tx, key, {
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

/** A key of public credentials is stored by its digest, together with them and the address. */
function storedKeyOf({ key, sender: { credentials, address } }: Request): string {
  if (address === undefined) return key;
  const named = JSON.stringify([credentials, address, key]);
  return `public/${createHash('sha256').update(named).digest('hex')}`;
}

/** Until the transaction ends. Fails at once rather than wait for a request that is running. */
async function lockKey(db: Db, key: string): Promise<void> {
  const [lock] = await db.sql(LOCK_KEY, { key: `${db.company_id}/${key}` });
  if (lock?.free) return;
  throw new HttpProblem(
    'request_in_progress',
    'A request with this Idempotency-Key is still running.',
    { headers: { 'Retry-After': '1' } },
  );
}

async function store(db: Db, key: string, row: Row): Promise<void> {
  const id = { company_id: db.company_id, key };
  await db.prisma.idempotencyKey.upsert({
    where: { company_id_key: id },
    create: { ...id, ...row },
    update: row,
  });
}

async function find(db: Db, key: string, now: Date): Promise<Row | undefined> {
  const row = await db.prisma.idempotencyKey.findUnique({
    where: { company_id_key: { company_id: db.company_id, key } },
  });
  const max_age_ms = MAX_AGE_HOURS * 3_600_000;
  return row && now.getTime() - row.created_at.getTime() < max_age_ms ? row : undefined;
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

/** With the credentials: an answer may hold a secret that is only for their owner. */
function digestOf({ sender, params, query, body }: Request): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([sender, params, query, body]))
    .digest();
}

function answerOf(reply: unknown, status: number): Answer {
  return reply instanceof Json
    ? { status: reply.status ?? status, text: reply.text, headers: reply.headers, replayed: false }
    : { status, text: JSON.stringify(reply), headers: {}, replayed: false };
}

/** AES-256-GCM: an answer may hold a secret that is shown once. */
function seal(secret: Buffer, text: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), sealed]));
}

function open(secret: Buffer, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12)).setAuthTag(
    bytes.subarray(12, 28),
  );
  return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
}

/** Deletes answers older than 24 hours, of all companies. */
export async function deleteExpiredAnswers(sql: Sql): Promise<void> {
  await sql(DELETE_EXPIRED_ANSWERS, { max_age_hours: MAX_AGE_HOURS });
}
