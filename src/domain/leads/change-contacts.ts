import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { Owner } from './lead-owner';
import { CHANGE_CONTACTS, LOCK_CONTACTS, RESTRICT_CONTACT } from './queries/contacts';

export type ContactChange = 'block' | 'unblock' | 'opt_out' | 'opt_in';

/**
 * Blocks or unblocks numbers, or opts them out or in, for the whole company, and stops or resumes
 * their live leads. Returns how many contacts changed. `message` is written to the histories of the
 * leads. Contacts stay locked until the transaction ends.
 */
export async function changeContacts(
  { sql }: Pick<Db, 'sql'>,
  change: ContactChange,
  numbers: readonly number[],
  { now, message }: { now: Date; message: string },
): Promise<number> {
  const contacts = toContacts(numbers, now);
  const [row] = await sql(CHANGE_CONTACTS, { change, ...contacts, now, message });
  return row!.changed;
}

/** Locks the contacts of numbers; adds those that do not exist. */
export async function lockContacts(
  sql: Db['sql'],
  numbers: readonly number[],
  now: Date,
): Promise<void> {
  await sql(LOCK_CONTACTS, { ...toContacts(numbers, now), now });
}

/** In order, as the functions lock them. */
function toContacts(numbers: readonly number[], now: Date) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  return { numbers: sorted, uuids: sorted.map(() => uuidv7(now.getTime())) };
}

interface Restriction {
  change: 'block' | 'opt_out';
  /** E.164 digits. */
  number: number;
  /** The offer or schedule of the lead token that requests it. */
  owner: Pick<Owner, 'offer_id' | 'schedule_id'>;
  now: Date;
  ip: string;
}

/**
 * Blocks a number or opts it out for one offer or schedule, and stops its live leads there. A lead
 * token may do no more, because everyone who has seen the form knows the token.
 */
export async function restrictContact(
  { sql }: Pick<Db, 'sql'>,
  { change, number, owner: { offer_id, schedule_id }, now, ip }: Restriction,
): Promise<void> {
  const uuid = uuidv7(now.getTime());
  const details = JSON.stringify({ ip });
  await sql(RESTRICT_CONTACT, { change, number, uuid, offer_id, schedule_id, now, details });
}
