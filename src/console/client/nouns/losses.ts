import { findNoun } from '../contract';
import { count } from '../format';
import { mayDo } from '../noun/access';
import type { Session } from '../session';
import { send, type Json, type Query } from '../transport';

// Deletions say what they cut off, in the question that is asked before them.

/** A sentence about what is cut off; undefined if nothing is. */
export type Losses = (session: Session, record: Json) => Promise<string | undefined>;

const MAX_LISTED = 1_000;

type Counted = readonly [n: number, singular: string, isMore?: boolean];

async function load({ transport, contract }: Session, name: string, query: Query) {
  const { data } = await send(transport, 'GET', `/${name}`, { query });
  const { total_count: total } = data.metadata as { total_count: number };
  return { rows: data[findNoun(contract, name).list_key] as Json[], total };
}

const mayList = (session: Session, name: string): boolean =>
  mayDo(session, findNoun(session.contract, name), 'list');

/** Counts the records that a filter of the API matches. */
async function countMatches(
  session: Session,
  name: string,
  { word, ...query }: { word: string } & Query,
): Promise<Counted> {
  if (!mayList(session, name)) return [0, word];
  return [(await load(session, name, { ...query, columns: 'id', per_page: 1 })).total, word];
}

/** Counts the records whose column has the id, where the API has no filter for it. */
async function countReferences(
  session: Session,
  name: string,
  { word, column, id }: { word: string; column: string; id: unknown },
): Promise<Counted> {
  if (!mayList(session, name)) return [0, word];
  const query = { columns: `id,${column}`, per_page: MAX_LISTED };
  const { rows, total } = await load(session, name, query);
  const n = rows.filter((row) => [row[column]].flat().map(String).includes(String(id))).length;
  return [n, word, total > rows.length];
}

const countList = (ids: unknown, word: string): Counted => [
  Array.isArray(ids) ? ids.length : 0,
  word,
];

/** `2 numbers and 1 schedule`; undefined for none. */
export function joinCounts(counts: readonly Counted[]): string | undefined {
  const texts = counts
    .filter(([n]) => n > 0)
    .map(
      ([n, word, isMore]) => `${isMore ? 'at least ' : ''}${count(n)} ${word}${n > 1 ? 's' : ''}`,
    );
  if (texts.length < 2) return texts[0];
  return `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

const say =
  (counts: (session: Session, record: Json) => Promise<Counted>[], consequence: string): Losses =>
  async (session, record) => {
    const text = joinCounts(await Promise.all(counts(session, record)));
    return text && `${text} ${consequence}`;
  };

export const LOSSES: Readonly<Record<string, Losses>> = {
  offers: say(
    (session, { id }) => [
      countMatches(session, 'phone_numbers', { word: 'number', offer_id: String(id) }),
      countReferences(session, 'schedules', { word: 'schedule', column: 'offer_id', id }),
    ],
    'will lead to it no longer.',
  ),
  buyers: say(
    (session, { id, buyer_group_ids: groups }) => [
      countReferences(session, 'offers', { word: 'offer', column: 'buyer_ids', id }),
      Promise.resolve(countList(groups, 'group')),
    ],
    'will send it no more calls.',
  ),
  buyer_groups: say(
    (session, { id }) => [
      countReferences(session, 'offers', { word: 'offer', column: 'buyer_group_ids', id }),
    ],
    'will lose its buyers.',
  ),
  traffic_sources: say(
    (session, { id }) => [
      countMatches(session, 'phone_numbers', { word: 'number', traffic_source_id: String(id) }),
    ],
    'will belong to no source.',
  ),
  schedules: say(
    (session, { id }) => [
      countMatches(session, 'leads', {
        word: 'lead',
        schedule_id: String(id),
        has_next_action: true,
      }),
    ],
    'that it would contact next will not be contacted.',
  ),
  buyer_suppressions: say(
    (_, { buyer_ids: buyers, offer_ids: offers, schedule_ids: schedules }) => [
      Promise.resolve(countList(buyers, 'buyer')),
      Promise.resolve(countList(offers, 'offer')),
      Promise.resolve(countList(schedules, 'schedule')),
    ],
    'will take its numbers again.',
  ),
};
