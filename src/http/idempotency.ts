import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Operation } from '../contract';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { Json } from './reply';

const KEPT_HOURS = 24;

interface Row {
  operation_id: string;
  request_digest: Uint8Array;
  status: number;
  answer: Uint8Array;
  created_at: Date;
}

interface Request {
  operation: Operation;
  key: string;
  /** Whose request it is. */
  credentials: string;
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
   * Runs `work` in one transaction with the record of its answer: either both last or neither, wherever the process dies. A key that is
   * known answers as the first time; with another request it is refused (422), while the first still runs too (409).
   */
  once(db: Db, request: Request, work: (db: Db) => Promise<unknown>): Promise<Answer>;
}

export function idempotency({ pepper, clock }: { pepper: string; clock: () => Date }): Idempotency {
  const secret = Buffer.from(hkdfSync('sha256', pepper, '', 'idempotent answers', 32));
  return {
    once: (db, request, work) =>
      db.transaction(async (transaction) => {
        await claim(transaction, request.key);
        const digest = digestOf(request);
        const found = await find(transaction, request.key, clock());
        if (found) return replay(found, { digest, secret, operation: request.operation });
        const answer = answerOf(await work(transaction), request.operation.status);
        const stored = {
          operation_id: request.operation.id,
          request_digest: new Uint8Array(digest),
          status: answer.status,
          answer: seal(secret, JSON.stringify({ text: answer.text, headers: answer.headers })),
          created_at: clock(),
        };
        const key = { company_id: db.company_id, key: request.key };
        await transaction.prisma.idempotencyKey.upsert({
          where: { company_id_key: key },
          create: { ...key, ...stored },
          update: stored,
        });
        return answer;
      }),
  };
}

/** A lock on the key until the transaction ends. A twin that runs already is told at once, rather than made to wait. */
async function claim(db: Db, key: string): Promise<void> {
  const rows = await db.query<{ free: boolean }>({
    text: 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7481202)) AS free',
    values: [`${db.company_id}/${key}`],
  });
  if (!rows[0]?.free)
    throw new HttpProblem(
      409,
      'A request with this Idempotency-Key is still running.',
      {},
      { 'Retry-After': '1' },
    );
}

async function find(db: Db, key: string, now: Date): Promise<Row | undefined> {
  const row = await db.prisma.idempotencyKey.findUnique({
    where: { company_id_key: { company_id: db.company_id, key } },
  });
  return row && now.getTime() - row.created_at.getTime() < KEPT_HOURS * 3_600_000 ? row : undefined;
}

function replay(
  row: Row,
  { digest, secret, operation }: { digest: Buffer; secret: Buffer; operation: Operation },
): Answer {
  if (row.operation_id !== operation.id || !digest.equals(row.request_digest)) {
    throw HttpProblem.field(
      'Idempotency-Key',
      'was used within 24 hours for another request; use a new key for a new request',
    );
  }
  return {
    status: row.status,
    replayed: true,
    ...(JSON.parse(open(secret, row.answer)) as Pick<Answer, 'text' | 'headers'>),
  };
}

/** Other credentials make another request: an answer may hold a secret that is theirs. */
function digestOf({ credentials, params, query, body }: Request): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([credentials, params, query, body]))
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
export const DELETE_EXPIRED_ANSWERS = `DELETE FROM idempotency_keys WHERE created_at < now() - interval '${KEPT_HOURS} hours'`;
