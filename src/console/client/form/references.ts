import type { NounContract } from '../../noun-contract';
import { mayDo } from '../noun/access';
import type { Session } from '../session';
import { send, type Json } from '../transport';

// Records by their names, for inputs that take an id.

export interface Choice {
  id: string;
  title: string;
}

/** Columns that people call a record by; the first that has a value counts. */
const TITLES = [
  'full_name',
  'name',
  'name_or_number',
  'display_number',
  'number',
  'email',
  'caller_number',
  'title',
] as const;

/** The columns with which a record of a noun can be named. */
export const titleColumns = ({ read }: NounContract): string[] =>
  ['id', 'phone_number', ...TITLES].filter((name) => name in read);

export function titleOf(record: Json): string {
  // A number of the company is known by its digits, and by its label.
  const { phone_number: number, name: label } = record;
  if (typeof number === 'string') return label ? `${number}, ${String(label)}` : number;
  for (const name of TITLES) {
    const value = record[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return `No. ${String(record.id)}`;
}

const MAX_CHOICES = 20;

/** The records of a noun that match a text; the newest ones for an empty text. */
export async function searchReferences(
  session: Session,
  name: string,
  text: string,
): Promise<Choice[]> {
  const noun = session.contract.nouns[name];
  if (!noun || !mayDo(session, noun, 'list')) return [];
  const { data } = await send(session.transport, 'GET', `/${name}`, {
    query: { fulltext: text.trim(), columns: titleColumns(noun), per_page: MAX_CHOICES },
  });
  return toChoices(data[noun.list_key]);
}

/** The names of records by id; ids that the caller may not see are left out. */
export async function loadTitles(
  session: Session,
  name: string,
  ids: readonly string[],
): Promise<Choice[]> {
  const noun = session.contract.nouns[name];
  if (!noun || ids.length === 0 || !mayDo(session, noun, 'list')) return [];
  const { data } = await send(session.transport, 'GET', `/${name}`, {
    query: { ids, columns: titleColumns(noun), per_page: Math.min(ids.length, 1_000) },
  });
  return toChoices(data[noun.list_key]);
}

const toChoices = (records: unknown): Choice[] =>
  (records as Json[]).map((record) => ({ id: String(record.id), title: titleOf(record) }));
