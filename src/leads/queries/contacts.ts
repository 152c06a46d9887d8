import type { Db } from '../../db/tenant';
import { template } from '../../db/statement';
import { SLOT } from '../../db/counters';

export type ContactChange = 'block' | 'unblock' | 'opt_out' | 'opt_in';

interface Rule {
  set: string;
  differs: string;
  event: string;
  /** What becomes of the leads of the number that have not ended, and which of them. */
  leads: string;
  which: string;
}

/** A lead that goes on where it was stopped: when its schedule has something to do for it, or it wants to be called, and no earlier than was meant. */
const RESUME = `status = CASE WHEN l.schedule_id IS NULL THEN 'queue' ELSE 'scheduled' END, due_at = CASE WHEN l.schedule_id IS NULL AND l.expires_in IS NULL AND l.callback_at IS NULL THEN NULL ELSE {now}::timestamptz END`;

const RULES: Record<ContactChange, Rule> = {
  block: {
    set: 'blocked = true, blocked_at = {now}',
    differs: 'NOT contacts.blocked',
    event: 'blocked',
    leads: `status = 'blocked', due_at = NULL`,
    which: `l.status <> 'blocked'`,
  },
  unblock: {
    set: 'blocked = false, unblocked_at = {now}',
    differs: 'contacts.blocked',
    event: 'unblocked',
    leads: RESUME,
    which: `l.status = 'blocked'`,
  },
  opt_out: {
    set: 'opt_out = true, opted_out_at = {now}',
    differs: 'NOT contacts.opt_out',
    event: 'opted_out',
    leads: `status = 'opt_out', due_at = NULL`,
    which: `l.status <> 'opt_out'`,
  },
  opt_in: {
    set: 'opt_out = false, opted_in_at = {now}',
    differs: 'contacts.opt_out',
    event: 'opted_in',
    leads: RESUME,
    which: `l.status = 'opt_out'`,
  },
};

/** Contacts that are not there yet are made, so that there is a row to lock; in the order of numbers, so that no two of these wait for each other. */
const ensure = template(
  `WITH made AS (INSERT INTO contacts (company_id, uuid, created_at, updated_at, caller_number)
      SELECT {company_id}, u, {now}, {now}, n FROM unnest({numbers}::bigint[], {uuids}::uuid[]) AS x(n, u) ORDER BY n
      ON CONFLICT (company_id, caller_number) DO NOTHING RETURNING 1)
    INSERT INTO record_counts (company_id, resource, slot, n) SELECT {company_id}, 'contacts', ${SLOT}, count(*) FROM made HAVING count(*) > 0
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
  { prepared: false },
);

/** In a statement of its own: the change that follows must see what those before it have committed. In the order of numbers. */
const lock = template(
  'SELECT id FROM contacts WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) ORDER BY caller_number FOR NO KEY UPDATE',
  { prepared: false },
);

const change = Object.fromEntries(
  (Object.keys(RULES) as ContactChange[]).map((verb) => {
    const { set, differs } = RULES[verb];
    const text = `UPDATE contacts SET ${set.replaceAll('{now}', '{now}::timestamptz')}, updated_at = {now}::timestamptz
      WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND ${differs} RETURNING id`;
    return [verb, template(text, { prepared: false })];
  }),
) as Record<ContactChange, ReturnType<typeof template>>;

const follow = Object.fromEntries(
  (Object.keys(RULES) as ContactChange[]).map((verb) => {
    const { leads, which, event } = RULES[verb];
    const text = `WITH locked AS (SELECT l.id FROM leads l WHERE l.company_id = {company_id} AND l.caller_number = ANY({numbers}::bigint[]) AND l.is_live AND ${which} ORDER BY l.id FOR UPDATE),
      changed AS (UPDATE leads l SET ${leads}, claim_id = NULL, updated_at = {now}::timestamptz WHERE l.company_id = {company_id} AND l.id = ANY(ARRAY(SELECT id FROM locked)) RETURNING l.id)
      INSERT INTO lead_logs (company_id, created_at, lead_id, event, message) SELECT {company_id}, {now}::timestamptz, id, '${event}', {message} FROM changed ORDER BY id`;
    return [verb, template(text, { prepared: false })];
  }),
) as Record<ContactChange, ReturnType<typeof template>>;

interface Context {
  now: Date;
  /** For the logs of the leads. */
  message: string;
  newUuid: () => string;
}

/**
 * Puts numbers on the blacklist or takes them off, opts them out or in, with all their leads that have not ended. Answers how many contacts
 * changed. Contacts are locked before leads, as by the engine before it sends: what is being sent is waited for, and nothing goes out after
 * the transaction has been committed.
 */
export async function changeContacts(
  db: Pick<Db, 'company_id' | 'query'>,
  verb: ContactChange,
  numbers: readonly number[],
  { now, message, newUuid }: Context,
): Promise<number> {
  if (numbers.length === 0) return 0;
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const values = { company_id: db.company_id, numbers: sorted, now: now.toISOString(), message };
  await db.query(ensure({ ...values, uuids: sorted.map(() => newUuid()) }));
  await db.query(lock(values));
  const changed = await db.query(change[verb](values));
  await db.query(follow[verb](values));
  return changed.length;
}
