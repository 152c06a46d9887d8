import { moveCount } from '../../data/counts/counters';
import type { Row, Statement, StatementName } from '../../data/sql';
import type { Db } from '../../data/db';
import { deleteLead } from '../../domain/leads/end-lead';
import {
  DELETE_BIDS,
  DELETE_CONTACT,
  DELETE_DECISIONS,
  DELETE_EVENTS,
  DELETE_PINGS,
  DELETE_RESTRICTIONS,
  ERASE_ATTEMPTS,
  ERASE_CALL_EVENTS,
  ERASE_CALLS,
  ERASE_CHANGE_LOGS,
  ERASE_CONTACT,
  ERASE_CONVERSIONS,
  ERASE_CONVERSIONS_OF_NUMBER,
  ERASE_DELIVERIES,
  ERASE_LEAD_LOGS,
  ERASE_LEADS,
  ERASE_NOTES,
  ERASE_WEBHOOK_LOGS,
} from './queries/erase';
import { ERASE_EMAILS, ERASE_TEXTS } from './queries/erase-messages';
import { LIST_CALLS, LIST_DELETED_LEADS, LOCK_LIVING_LEADS } from './queries/find-person';
import { Tally } from './tally';

// Erases the data of a person in portions: each is a transaction that locks so many leads or calls
// at most, in the order of their ids, and their parts. An interrupted erasure is repeated.

export interface Person {
  db: Db;
  /** E.164 without the plus. */
  number: string;
  now: Date;
  /** Leads or calls of a transaction, at most. */
  portion: number;
  erased: Tally;
}

/** Deletes the leads as requests would, so that nothing more is sent to them. */
export async function deleteLeads({ db, number, now, portion }: Person): Promise<void> {
  for (let count = portion; count === portion;)
    count = await db.transaction(async (tx) => {
      const leads = await tx.sql(LOCK_LIVING_LEADS, { number, limit: portion });
      for (const { id } of leads) await deleteLead(tx, BigInt(id), now);
      await moveCount(tx, 'leads', -leads.length);
      return leads.length;
    });
}

interface Ids {
  lead_ids: string[];
  call_ids: string[];
}

type StatementsByTable = Record<string, Statement<StatementName, unknown>>;

async function eraseParts(
  { sql }: Pick<Db, 'sql'>,
  ids: Ids,
  statements: StatementsByTable,
): Promise<Tally> {
  const rows = new Tally();
  for (const [table, statement] of Object.entries(statements))
    rows.add(table, (await sql(statement as typeof DELETE_EVENTS, ids)).length);
  return rows;
}

/** Parts of both calls and leads. */
const SHARED_STATEMENTS = {
  webhook_events: DELETE_EVENTS,
  webhook_deliveries: ERASE_DELIVERIES,
  webhook_logs: ERASE_WEBHOOK_LOGS,
  change_logs: ERASE_CHANGE_LOGS,
};

const CALL_STATEMENTS = {
  calls: ERASE_CALLS,
  call_events: ERASE_CALL_EVENTS,
  call_decisions: DELETE_DECISIONS,
  call_attempts: ERASE_ATTEMPTS,
  conversions: ERASE_CONVERSIONS,
  account_entries: ERASE_NOTES,
  ...SHARED_STATEMENTS,
};
const LEAD_STATEMENTS = { lead_logs: ERASE_LEAD_LOGS, ...SHARED_STATEMENTS, leads: ERASE_LEADS };

/**
 * Empties the ended calls with their parts. Calls `onRecordings` with the URLs of recordings before
 * they are erased from the database.
 */
export async function eraseCalls(
  { db, number, portion, erased }: Person,
  onRecordings: (urls: string[]) => void,
): Promise<void> {
  for (let after: string | undefined = '0'; after !== undefined;) {
    const calls: Row<'erasure.list_calls', { id: string }>[] = await db.sql(LIST_CALLS, {
      number,
      after,
      limit: portion,
    });
    const ids = { lead_ids: [], call_ids: calls.map(({ id }) => id) };
    after = ids.call_ids.at(-1);
    onRecordings(calls.flatMap(({ recording_url }) => recording_url ?? []));
    erased.merge(await db.transaction((tx) => eraseParts(tx, ids, CALL_STATEMENTS)));
  }
}

/** Erases rows with the number in a column of their own, of whatever lead or call. */
export async function eraseNumber(person: Person): Promise<void> {
  const { db, number, portion, erased } = person;
  await eraseTexts(person, { lead_ids: [], number });
  const repeat = async (
    table: string,
    statement: typeof DELETE_PINGS | typeof ERASE_CONVERSIONS_OF_NUMBER,
  ) => {
    for (let count = portion; count === portion;) {
      count = (await db.sql(statement as typeof DELETE_PINGS, { number, limit: portion })).length;
      erased.add(table, count);
    }
  };
  await repeat('conversions', ERASE_CONVERSIONS_OF_NUMBER);
  await repeat('pings', DELETE_PINGS);
  erased.add('bids', (await db.sql(DELETE_BIDS, { number })).length);
  const contacts = await db.transaction(async (tx) => {
    const deleted = await tx.sql(DELETE_CONTACT, { number });
    await moveCount(tx, 'contacts', -countUndeleted(deleted));
    const emptied = await tx.sql(ERASE_CONTACT, { number });
    return deleted.length + emptied.length;
  });
  erased.add('contacts', contacts);
  const restrictions = await db.sql(DELETE_RESTRICTIONS, { number });
  erased.add('contact_restrictions', restrictions.length);
}

const countUndeleted = (rows: { was_counted: boolean | null }[]): number =>
  rows.filter(({ was_counted }) => was_counted).length;

export type DeletedLead = Row<'erasure.list_deleted_leads', { id: string }>;

export const listDeletedLeads = ({ db, number, portion }: Person): Promise<DeletedLead[]> =>
  db.sql(LIST_DELETED_LEADS, { number, limit: portion });

/** Empties deleted leads with their parts, including their addresses. */
export async function eraseLeads(
  person: Person,
  leads: readonly DeletedLead[],
  emails: string[],
): Promise<void> {
  const { db, now, portion, erased } = person;
  const ids = { lead_ids: leads.map(({ id }) => id), call_ids: [] };
  await eraseTexts(person, { lead_ids: ids.lead_ids, number: null });
  await eraseWindows(person, 'emails', (tx, after) =>
    tx.sql(ERASE_EMAILS, { ...ids, emails, after, limit: portion, now: now.toISOString() }),
  );
  erased.merge(await db.transaction((tx) => eraseParts(tx, ids, LEAD_STATEMENTS)));
}

const eraseTexts = (
  person: Person,
  whose: { lead_ids: string[]; number: string | null },
): Promise<void> =>
  eraseWindows(person, 'text_messages', (tx, after) =>
    tx.sql(ERASE_TEXTS, {
      ...whose,
      after,
      limit: person.portion,
      now: person.now.toISOString(),
    }),
  );

/** Erases rows in the order of their ids, window by window. */
async function eraseWindows(
  { db, portion, erased }: Person,
  table: 'text_messages' | 'emails',
  erase: (tx: Db, after: string) => Promise<{ id: string; was_counted: boolean | null }[]>,
): Promise<void> {
  for (let [after, count] = ['0', portion]; count === portion;) {
    const start = after;
    const rows = await db.transaction(async (tx) => {
      const changed = await erase(tx, start);
      await moveCount(tx, table, -countUndeleted(changed));
      return changed;
    });
    erased.add(table, rows.length);
    count = rows.length;
    after = String(rows.reduce((last, { id }) => (BigInt(id) > last ? BigInt(id) : last), 0n));
  }
}
