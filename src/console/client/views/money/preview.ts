import type { Schemas } from '../../api';
import { send, type Json, type Transport } from '../../transport';
import type { AccountOwner } from './account-buttons';

type Kind = Schemas['AccountEntryKind'];

/** The account and the period of a statement that is about to be drawn up. */
export interface Draft {
  owner: AccountOwner;
  id: string;
  from: string;
  /** The moment after the last. */
  to: string;
}

export interface Preview {
  /** Lines of the statement. */
  entries_count: number;
  /** Entries that come of calls: paid, taken back or earned. */
  calls_count: number;
  /** Null where there are too many entries to add them up here. */
  totals: Partial<Record<Kind, number>> | null;
  before_count: number;
  after_count: number;
  /** Statements of this account that hold some of the same days. */
  overlapping: readonly Json[];
}

const PAGE_SIZE = 1_000;
/** Adding up more of them would take seconds; the statement itself has the sums of any number. */
const MAX_PAGES = 5;
const MAX_STATEMENTS = 100;

/** Reads what a statement would hold from the entries of its account. */
export async function loadPreview(transport: Transport, draft: Draft): Promise<Preview> {
  const { owner, id, from, to } = draft;
  const lastMoment = new Date(Date.parse(to) - 1).toISOString();
  const count = async (period: Json): Promise<number> => {
    const query = { [owner]: id, ...period, per_page: 1, columns: ['id'] };
    const { data } = await send(transport, 'GET', '/account_entries', { query });
    return (data.metadata as { total_count: number }).total_count;
  };
  const held = { created_at_from: from, created_at_to: lastMoment };
  const before = { created_at_to: new Date(Date.parse(from) - 1).toISOString() };
  const [entriesCount, beforeCount, afterCount, overlapping] = await Promise.all([
    count(held),
    count(before),
    count({ created_at_from: to }),
    loadOverlapping(transport, draft),
  ]);
  const entries =
    entriesCount > PAGE_SIZE * MAX_PAGES
      ? null
      : await loadEntries(transport, { [owner]: id, ...held });
  return {
    entries_count: entriesCount,
    calls_count: (entries ?? []).filter(({ call_id: call }) => call !== null).length,
    totals: entries && sumByKind(entries),
    before_count: beforeCount,
    after_count: afterCount,
    overlapping,
  };
}

async function loadEntries(transport: Transport, filters: Json): Promise<Json[]> {
  const entries: Json[] = [];
  let cursor = '-1';
  while (cursor !== '0') {
    const query = {
      ...filters,
      columns: ['id', 'kind', 'amount', 'call_id'],
      per_page: PAGE_SIZE,
      cursor,
    };
    const { data } = await send(transport, 'GET', '/account_entries', { query });
    entries.push(...(data.account_entries as Json[]));
    cursor = String((data.metadata as { next_cursor: unknown }).next_cursor);
  }
  return entries;
}

/** In cents, since sums of fractions drift. */
export function sumByKind(entries: readonly Json[]): Partial<Record<Kind, number>> {
  const cents = new Map<Kind, number>();
  for (const { kind, amount } of entries)
    cents.set(kind as Kind, (cents.get(kind as Kind) ?? 0) + Math.round(Number(amount) * 100));
  return Object.fromEntries([...cents].map(([kind, sum]) => [kind, sum / 100]));
}

async function loadOverlapping(
  transport: Transport,
  { owner, id, from, to }: Draft,
): Promise<Json[]> {
  const query = { [owner]: id, order_dir: 'desc', per_page: MAX_STATEMENTS };
  const { data } = await send(transport, 'GET', '/statements', { query });
  return (data.statements as Json[]).filter(
    ({ period_from: first, period_to: end }) =>
      Date.parse(String(first)) < Date.parse(to) && Date.parse(String(end)) > Date.parse(from),
  );
}
