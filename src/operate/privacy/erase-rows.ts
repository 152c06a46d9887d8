import { moveCount } from '../../data/counts/counters';
import type { Table } from '../../data/references';
import type { Row } from '../../data/sql';
import type { Db } from '../../data/db';
import { deleteLead } from '../../domain/leads/end-lead';
import type { Owner } from './ownership';
import { ERASURES, type Erasure } from './queries/erase';
import { LIST_CALLS, LIST_DELETED_LEADS, LOCK_LIVING_LEADS } from './queries/find-person';

// Erases the data of a person in portions: each is a transaction that locks so many leads or calls
// at most, in the order of their ids, and their parts. An interrupted erasure is repeated.

/** Rows by table. */
export type Counts = Record<string, number>;

export function addCount(counts: Counts, table: string, rows: number): void {
  if (rows > 0) counts[table] = (counts[table] ?? 0) + rows;
}

export interface Person {
  db: Db;
  /** E.164 without the plus. */
  number: string;
  now: Date;
  /** Leads or calls of a transaction, at most. */
  portion: number;
  erased: Counts;
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

interface Owners {
  call_ids?: string[];
  lead_ids?: string[];
  emails?: string[];
  number?: string;
}

const listErasures = (kind: Owner['kind']): Erasure[] =>
  ERASURES.filter(({ table }) => table.owners.some((owner) => owner.kind === kind));

/** Erases rows by the statements, up to the limit by each; returns the largest count of one. */
async function eraseRows(
  { db, now, erased }: Person,
  erasures: readonly Erasure[],
  { call_ids = [], lead_ids = [], emails = [], number, limit }: Owners & { limit?: number },
): Promise<number> {
  const params = {
    call_ids,
    lead_ids,
    emails,
    number: number ?? null,
    limit: limit ?? null,
    now: now.toISOString(),
  };
  const changes = await db.transaction(async (tx) => {
    const written: { table: string; rows: number; counted: number }[] = [];
    for (const { table, statement } of erasures) {
      const rows = await tx.sql(statement, params);
      const counted = rows.filter(({ was_counted }) => was_counted).length;
      written.push({ table: table.name, rows: rows.length, counted });
    }
    for (const { table, counted } of written)
      if (counted > 0) await moveCount(tx, table as Table, -counted);
    return written;
  });
  for (const { table, rows } of changes) addCount(erased, table, rows);
  return Math.max(0, ...changes.map(({ rows }) => rows));
}

async function eraseInPortions(
  person: Person,
  erasures: readonly Erasure[],
  owners: Owners,
): Promise<void> {
  const { portion } = person;
  for (const erasure of erasures)
    while ((await eraseRows(person, [erasure], { ...owners, limit: portion })) === portion);
}

const CALL_ERASURES = listErasures('call');
const NUMBER_ERASURES = listErasures('number');
const ADDRESS_ERASURES = listErasures('address');
const LEAD_ERASURES = listErasures('lead');

/**
 * Empties the ended calls with their parts. Calls `onRecordings` with the URLs of recordings before
 * they are erased from the database.
 */
export async function eraseCalls(
  person: Person,
  onRecordings: (urls: string[]) => void,
): Promise<void> {
  const { db, number, portion } = person;
  for (let after: string | undefined = '0'; after !== undefined;) {
    const calls: Row<'erasure.list_calls', { id: string }>[] = await db.sql(LIST_CALLS, {
      number,
      after,
      limit: portion,
    });
    const ids = calls.map(({ id }) => id);
    after = ids.at(-1);
    onRecordings(calls.flatMap(({ recording_url }) => recording_url ?? []));
    if (after !== undefined) await eraseRows(person, CALL_ERASURES, { call_ids: ids });
  }
}

/** Erases rows with the number in a column of their own, of whatever lead or call. */
export const eraseNumber = (person: Person): Promise<void> =>
  eraseInPortions(person, NUMBER_ERASURES, { number: person.number });

export type DeletedLead = Row<'erasure.list_deleted_leads', { id: string }>;

export const listDeletedLeads = ({ db, number, portion }: Person): Promise<DeletedLead[]> =>
  db.sql(LIST_DELETED_LEADS, { number, limit: portion });

/** Empties deleted leads with their parts, including their addresses. */
export async function eraseLeads(
  person: Person,
  leads: readonly DeletedLead[],
  emails: string[],
): Promise<void> {
  if (emails.length > 0) await eraseInPortions(person, ADDRESS_ERASURES, { emails });
  await eraseRows(person, LEAD_ERASURES, { lead_ids: leads.map(({ id }) => id) });
}
