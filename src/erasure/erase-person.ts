import { moveCount } from '../db/counters';
import { lockRecord } from '../db/records';
import type { Row, Statement, StatementName } from '../db/sql';
import type { Db, TenantDatabases } from '../db/tenant';
import { deleteLead } from '../leads/end-lead';
import { StartError } from '../start-error';
import {
  DELETE_CONTACT,
  DELETE_DECISIONS,
  DELETE_EVENTS,
  DELETE_BIDS,
  DELETE_PINGS,
  DELETE_RESTRICTIONS,
  ERASE_ATTEMPTS,
  ERASE_CALL_EVENTS,
  ERASE_CALLS,
  ERASE_CHANGE_LOGS,
  ERASE_CONVERSIONS,
  ERASE_DELIVERIES,
  ERASE_EMAILS,
  ERASE_LEAD_LOGS,
  ERASE_LEADS,
  ERASE_REJECTED_ROWS,
  ERASE_TEXTS,
  ERASE_WEBHOOK_LOGS,
} from './queries/erase';
import { COUNT_KEPT, FIND_PERSON } from './queries/find-person';

// A person asks to be forgotten. First the leads are deleted as a request would delete them, some in
// each transaction, so that nothing is sent to them any more; then, in one transaction, what is left
// of the person is erased from all tables. Locks: leads in the order of their ids, then calls.

export interface Receipt {
  company_id: number;
  number: string;
  erased_at: string;
  /** By table, rows that were deleted or emptied of what was personal. */
  erased: Record<string, number>;
  /** By table, rows that stay, because they keep the person from being contacted. */
  kept: Record<string, number>;
  /** Recordings that the carrier has: they are to be deleted there. */
  recording_urls: string[];
  /** Where the person may still be. */
  not_searched: readonly string[];
}

/** Leads that one transaction deletes. */
const PORTION = 100;

const NOT_SEARCHED = [
  'uploaded files',
  'answers to requests with an Idempotency-Key, which are deleted after a day',
  'backups and logs',
];

/**
 * Erases the data of the person with a telephone number, E.164 without the plus, from a company.
 * May be repeated. Throws StartError while the person is in a call, or a buyer is reserved for one.
 */
export async function erasePerson(
  tenants: TenantDatabases,
  company_id: bigint,
  { number, now }: { number: string; now: Date },
): Promise<Receipt> {
  const db = tenants.of(company_id);
  const { undeleted_lead_ids } = await findPerson(db, number, now);
  for (let n = 0; n < undeleted_lead_ids.length; n += PORTION)
    await deleteLeads(db, undeleted_lead_ids.slice(n, n + PORTION), now);
  return db.transaction(async (tx) => {
    const person = await findPerson(tx, number, now);
    const erased = await erase(tx, person, { number, now });
    const [kept] = await tx.sql(COUNT_KEPT, { number });
    return {
      company_id: Number(company_id),
      number: `+${number}`,
      erased_at: now.toISOString(),
      erased: withoutZeros(erased),
      kept: withoutZeros(kept as Record<string, number>),
      recording_urls: person.recording_urls,
      not_searched: NOT_SEARCHED,
    };
  });
}

const deleteLeads = (db: Db, ids: readonly string[], now: Date): Promise<void> =>
  db.transaction(async (tx) => {
    for (const id of ids) {
      await lockRecord(tx, 'leads', id);
      await deleteLead(tx, BigInt(id), now);
      await moveCount(tx, 'leads', -1);
    }
  });

type Person = Row<'erasure.find_person'> & {
  lead_ids: string[];
  undeleted_lead_ids: string[];
  call_ids: string[];
  running_call_ids: string[];
  recording_urls: string[];
  emails: string[];
};

async function findPerson({ sql }: Pick<Db, 'sql'>, number: string, now: Date): Promise<Person> {
  const [found] = await sql(FIND_PERSON, { number, now: now.toISOString() });
  const person = found!;
  if (person.running_call_ids.length > 0)
    throw new StartError(`+${number} is in a call now: try again when it has ended.`);
  if (person.held_until)
    throw new StartError(
      `A buyer is reserved for +${number} until ${person.held_until.toISOString()}: try again then.`,
    );
  return person;
}

async function erase(
  tx: Db,
  { lead_ids, call_ids, emails }: Person,
  { number, now }: { number: string; now: Date },
): Promise<Record<string, number>> {
  const params = {
    number,
    now: now.toISOString(),
    lead_ids,
    call_ids,
    emails,
    mentioned: [number.slice(-10), ...emails.map(escapeRegExp)].join('|'),
  };
  const run = async <Name extends StatementName>(statement: Statement<Name, unknown>) =>
    tx.sql(statement, params as never);
  const count = async <Name extends StatementName>(statement: Statement<Name, unknown>) =>
    (await run(statement)).length;
  const counted = async (
    table: 'text_messages' | 'emails' | 'contacts',
    rows: { was_counted: boolean | null }[],
  ) => {
    await moveCount(tx, table, -rows.filter(({ was_counted }) => was_counted).length);
    return rows.length;
  };
  return {
    leads: await count(ERASE_LEADS),
    calls: await count(ERASE_CALLS),
    lead_logs: await count(ERASE_LEAD_LOGS),
    text_messages: await counted('text_messages', await run(ERASE_TEXTS)),
    emails: await counted('emails', await run(ERASE_EMAILS)),
    call_events: await count(ERASE_CALL_EVENTS),
    call_decisions: await count(DELETE_DECISIONS),
    call_attempts: await count(ERASE_ATTEMPTS),
    conversions: await count(ERASE_CONVERSIONS),
    pings: await count(DELETE_PINGS),
    bids: await count(DELETE_BIDS),
    contacts: await counted('contacts', await run(DELETE_CONTACT)),
    contact_restrictions: await count(DELETE_RESTRICTIONS),
    webhook_events: await count(DELETE_EVENTS),
    webhook_deliveries: await count(ERASE_DELIVERIES),
    webhook_logs: await count(ERASE_WEBHOOK_LOGS),
    change_logs: await count(ERASE_CHANGE_LOGS),
    rejected_rows: await count(ERASE_REJECTED_ROWS),
  };
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const withoutZeros = (counts: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, rows]) => rows > 0));
