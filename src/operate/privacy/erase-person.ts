import type { TenantDatabases } from '../../data/tenant';
import type { Db } from '../../data/db';
import { expireReservations } from '../../domain/routing/expire-reservations';
import { StartError } from '../../platform/start-error';
import { KEPT_TABLE_COLUMNS, type KeptTableColumns } from './ownership';
import {
  addCount,
  deleteLeads,
  eraseCalls,
  eraseLeads,
  eraseNumber,
  listDeletedLeads,
  type Counts,
} from './erase-rows';
import { COUNT_KEPT } from './queries/erase';
import { FIND_ACTIVITY, READ_COUNTRY } from './queries/find-person';
import { searchEverywhere } from './search';
import { spellEmails, spellPerson } from './spellings';

// Order of an erasure: the leads are deleted first, as requests would delete them, so that nothing
// more is sent to them. Then calls and everything with the number; last the leads, which have the
// e-mail addresses. Every step is a short transaction and may be repeated.

export interface Receipt {
  company_id: number;
  number: string;
  erased_at: string;
  /** By table, rows that were deleted or emptied of personal data. */
  erased: Counts;
  /**
   * By table, rows that name the person and stay: they keep the person from being contacted, or are
   * settings in use.
   */
  kept: Counts;
  /** All columns that stay and are or may be about a person, and why. */
  kept_columns: readonly KeptTableColumns[];
  /** Recordings at the carrier, which must be deleted there. */
  recording_urls: string[];
  /** Where data of the person may remain. */
  not_searched: readonly string[];
}

const NOT_SEARCHED = [
  'uploaded files',
  'answers to requests with an Idempotency-Key, which are deleted after a day',
  'names in texts that have neither the number nor an address of the person',
  'backups and logs',
];

export interface EraseOptions {
  /** E.164 without the plus. */
  number: string;
  now: Date;
  /**
   * Called before recordings are erased from the database: an interrupted erasure prints no
   * receipt.
   */
  onRecordings?: (urls: string[]) => void;
  /** Leads or calls of a transaction, at most. */
  portion?: number;
}

const PORTION = 200;

/**
 * Erases the data of the person with a telephone number from a company. May be repeated. Throws
 * StartError while the person is in a call, or a buyer is reserved for one.
 */
export async function erasePerson(
  tenants: TenantDatabases,
  companyId: bigint,
  { number, now, onRecordings = () => undefined, portion = PORTION }: EraseOptions,
): Promise<Receipt> {
  const db = tenants.of(companyId);
  const [erased, keptCounts]: [Counts, Counts] = [{}, {}];
  const person = { db, number, now, portion, erased };
  const recordingUrls = new Set<string>();
  const [company] = await db.sql(READ_COUNTRY, {});
  const country = company!.country;
  await expireReservations(db.bulk, now);
  await requireInactive(db, number, now);
  await deleteLeads(person);
  await eraseCalls(person, (urls) => {
    onRecordings(urls);
    for (const url of urls) recordingUrls.add(url);
  });
  await eraseNumber(person);
  for (let isFirst = true; ; isFirst = false) {
    const leads = await listDeletedLeads(person);
    const emails = [...new Set(leads.flatMap(({ email }) => email ?? []))];
    if (isFirst)
      await searchEverywhere(db, spellPerson({ number, country }, emails), { erased, keptCounts });
    else if (emails.length > 0)
      await searchEverywhere(db, spellEmails(emails), { erased, keptCounts });
    if (leads.length === 0) break;
    await eraseLeads(person, leads, emails);
  }
  await requireInactive(db, number, now);
  const [keptRows] = await db.sql(COUNT_KEPT, { number });
  for (const [table, rows] of Object.entries(keptRows!)) addCount(keptCounts, table, Number(rows));
  return {
    company_id: Number(companyId),
    number: `+${number}`,
    erased_at: now.toISOString(),
    erased,
    kept: keptCounts,
    kept_columns: KEPT_TABLE_COLUMNS,
    recording_urls: [...recordingUrls],
    not_searched: NOT_SEARCHED,
  };
}

async function requireInactive({ sql }: Pick<Db, 'sql'>, number: string, now: Date): Promise<void> {
  const [activity] = await sql(FIND_ACTIVITY, { number, now: now.toISOString() });
  const { is_in_call, held_until } = activity!;
  if (is_in_call) throw new StartError(`+${number} is in a call now: try again when it has ended.`);
  if (held_until)
    throw new StartError(
      `A buyer is reserved for +${number} until ${held_until.toISOString()}: try again then.`,
    );
}
