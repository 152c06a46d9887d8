import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { LIFT_BLOCKS, LIFT_OPT_OUTS } from './queries/restrict-contact';
import {
  ADD_CONTACTS,
  BLOCK_CONTACTS,
  LOCK_CONTACTS,
  OPT_CONTACTS_IN,
  OPT_CONTACTS_OUT,
  RECORD_OPT_OUTS,
  RESUME_LEADS,
  STOP_LEADS,
  UNBLOCK_CONTACTS,
} from './queries/change-contacts';

export type ContactChange = 'block' | 'unblock' | 'opt_out' | 'opt_in';

const CHANGES = {
  block: { contacts: BLOCK_CONTACTS, leads: STOP_LEADS, status: 'blocked', event: 'blocked' },
  unblock: {
    contacts: UNBLOCK_CONTACTS,
    leads: RESUME_LEADS,
    status: 'blocked',
    event: 'unblocked',
  },
  opt_out: { contacts: OPT_CONTACTS_OUT, leads: STOP_LEADS, status: 'opt_out', event: 'opted_out' },
  opt_in: { contacts: OPT_CONTACTS_IN, leads: RESUME_LEADS, status: 'opt_out', event: 'opted_in' },
} as const;

/** Restrictions by lead tokens, at single offers and schedules, that a change removes as well. */
const LIFTS = { unblock: LIFT_BLOCKS, opt_in: LIFT_OPT_OUTS, block: null, opt_out: null } as const;

/**
 * Blocks or unblocks numbers, or opts them out or in, for the whole company, and stops or resumes
 * their live leads. Returns how many contacts changed. `message` is written to the histories of the
 * leads.
 *
 * Must run in a transaction. Contacts are locked before leads. Outreach keeps that order before it
 * sends: the change waits for a message that is being sent, and none is sent after the commit.
 */
export async function changeContacts(
  { sql }: Pick<Db, 'sql'>,
  change: ContactChange,
  numbers: readonly number[],
  { now, message }: { now: Date; message: string },
): Promise<number> {
  if (numbers.length === 0) return 0;
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const { contacts, leads, status, event } = CHANGES[change];
  await lockContacts(sql, sorted, now);
  const changed = await sql(contacts, { numbers: sorted, now });
  const lift = LIFTS[change];
  const lifted = lift ? await sql(lift, { numbers: sorted, now }) : [];
  await sql(leads, { numbers: sorted, status, event, message, now });
  if (change === 'opt_out' && changed.length > 0)
    await sql(RECORD_OPT_OUTS, { numbers: changed.map(({ caller_number }) => caller_number) });
  return new Set([...changed, ...lifted].map(({ caller_number }) => caller_number)).size;
}

/** Locks the contacts of numbers in the order of `numbers`; adds those that do not exist. */
export async function lockContacts(
  sql: Db['sql'],
  numbers: readonly number[],
  now: Date,
): Promise<void> {
  const uuids = numbers.map(() => uuidv7(now.getTime()));
  await sql(ADD_CONTACTS, { numbers, uuids, now });
  // A separate statement, because it must see rows that other transactions have committed.
  await sql(LOCK_CONTACTS, { numbers });
}
