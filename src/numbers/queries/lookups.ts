import type { Db } from '../../db/tenant';
import { type Executor } from '../../db/executor';

/** What is known of who has a number, or is buying it. */
export interface Holder {
  company_id: string;
  /** Null while it is being bought. */
  number_id: string | null;
  purchase_key: string | null;
  purchase_tried_at: Date | null;
}

export interface Reservation {
  /** Digits. */
  phone_number: bigint;
  key: string;
  tried_at: Date;
}

/**
 * Tries to be the only one in the installation who buys a number or makes it known, until the transaction ends or its process dies. False when
 * somebody else is at it: nobody waits, since who comes second gets nothing.
 */
export async function claimNumber(db: Db, phone_number: bigint): Promise<boolean> {
  const rows = await db.query<{ free: boolean }>({
    text: 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7481203)) AS free',
    values: [`number/${phone_number}`],
  });
  return rows[0]!.free;
}

/** Who has a number; undefined when nobody does. */
export async function holderOf(db: Db, phone_number: bigint): Promise<Holder | undefined> {
  const text =
    'SELECT company_id::text, number_id::text, purchase_key::text, purchase_tried_at FROM number_lookups WHERE phone_number = $1::bigint';
  return (await db.query<Holder>({ text, values: [phone_number] }))[0];
}

/** Writes down that a claimed number is about to be bought. On another connection, so that it lasts whatever becomes of the transaction. False when it has an owner. */
export async function reserve(
  aside: Executor,
  { phone_number, key, tried_at }: Reservation,
  company_id: bigint,
): Promise<boolean> {
  const text = `INSERT INTO number_lookups (phone_number, company_id, purchase_key, purchase_tried_at) VALUES ($1::bigint, $2::bigint, $3::uuid, $4::timestamptz)
    ON CONFLICT DO NOTHING RETURNING 1`;
  const { rows } = await aside.query({
    text,
    values: [String(phone_number), String(company_id), key, tried_at.toISOString()],
  });
  return rows.length > 0;
}

/** Takes back that a number is about to be bought, where it is certain that it was not. */
export async function giveUp(
  aside: Executor,
  { phone_number, key }: Pick<Reservation, 'phone_number' | 'key'>,
): Promise<void> {
  const text =
    'DELETE FROM number_lookups WHERE phone_number = $1::bigint AND purchase_key = $2::uuid';
  await aside.query({ text, values: [String(phone_number), key] });
}

/** Enters who owns a claimed number, also in place of a purchase that is finished by it. False when it has an owner. */
export async function enterOwner(
  db: Db,
  phone_number: bigint,
  number_id: bigint,
): Promise<boolean> {
  const rows = await db.query({
    text: `INSERT INTO number_lookups AS l (phone_number, company_id, number_id) VALUES ($1::bigint, $2::bigint, $3::bigint)
      ON CONFLICT (phone_number) DO UPDATE SET company_id = excluded.company_id, number_id = excluded.number_id, purchase_key = NULL, purchase_tried_at = NULL
      WHERE l.number_id IS NULL RETURNING 1`,
    values: [phone_number, db.company_id, number_id],
  });
  return rows.length > 0;
}

/** Numbers whose purchase by the company was cut short, or still runs: + and digits, the oldest try first. */
export async function unfinishedPurchases(db: Db): Promise<string[]> {
  const text = `SELECT '+' || phone_number AS phone_number FROM number_lookups WHERE company_id = $1 AND number_id IS NULL ORDER BY purchase_tried_at, phone_number LIMIT 100`;
  return (await db.query<{ phone_number: string }>({ text, values: [db.company_id] })).map(
    ({ phone_number }) => phone_number,
  );
}

/** Those among the numbers that somebody of the installation owns, or that were about to be bought after `since`. */
export async function heldAmong(
  db: Db,
  phone_numbers: readonly string[],
  since: Date,
): Promise<string[]> {
  const text = `SELECT '+' || phone_number AS phone_number FROM number_lookups WHERE phone_number = ANY($1::bigint[]) AND (number_id IS NOT NULL OR purchase_tried_at > $2::timestamptz)`;
  const digits = phone_numbers.map((number) => number.slice(1));
  return (
    await db.query<{ phone_number: string }>({ text, values: [digits, since.toISOString()] })
  ).map(({ phone_number }) => phone_number);
}
