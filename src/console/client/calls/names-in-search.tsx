import { useEffect } from 'preact/hooks';
import { ok, type Api } from '../api';
import { findNoun } from '../contract';
import { searchReferences, type Choice } from '../form/references';
import { useLoaded } from '../loading';
import { linkTo, setQuery } from '../route';
import { useSession, type Session } from '../session';

const NAMED = [
  { noun: 'buyers', filter: 'buyer_id', word: 'buyer' },
  { noun: 'offers', filter: 'offer_id', word: 'offer' },
  { noun: 'traffic_sources', filter: 'traffic_source_id', word: 'source' },
] as const;

/** By which names the caller may look for calls. */
const listNamed = ({ contract, may }: Session) =>
  NAMED.filter(({ noun, filter }) => {
    const { filters } = findNoun(contract, 'calls');
    return filter in filters && may(`${noun}:read`);
  });

/** Says by what a search finds calls. */
export const describeSearch = (session: Session): string =>
  ['Number', 'sub-ID', ...listNamed(session).map(({ word }) => word)].join(', ');

const MAX_NAMES = 5;
const isNumber = (text: string): boolean => /^[\d\s()+.-]+$/.test(text);

interface NamedChoice extends Choice {
  filter: string;
  word: string;
}

/** The records whose names have the text; one whose name is the text leaves out the others. */
async function findNamed(session: Session, text: string): Promise<NamedChoice[]> {
  const lists = await Promise.all(
    listNamed(session).map(async ({ noun, filter, word }) => {
      const choices = await searchReferences(session, noun, text).catch((): Choice[] => []);
      return choices.slice(0, MAX_NAMES).map((choice) => ({ ...choice, filter, word }));
    }),
  );
  const choices = lists.flat();
  const exact = choices.filter(({ title }) => title.toLowerCase() === text.toLowerCase());
  return exact.length === 1 ? exact : choices;
}

/** True if some call has the text in itself, as in its sub-ID. */
async function hasText(api: Api, fulltext: string): Promise<boolean> {
  const query = { fulltext, per_page: 1, columns: ['id'] };
  return (await ok(api.GET('/calls', { params: { query } }))).calls.length > 0;
}

/**
 * Calls are found by what they have themselves, and by their buyer, offer and source through the
 * filters for these, which read an index: a name that was typed becomes its filter.
 */
export function NamesInSearch({ text }: { text: string }) {
  const session = useSession();
  const { data: choices = [] } = useLoaded(async () => {
    if (text === '' || isNumber(text)) return [];
    const named = await findNamed(session, text);
    const isClear = named.length === 1 && !(await hasText(session.api, text));
    return named.map((choice) => ({ ...choice, isClear }));
  }, [text]);
  const [first] = choices;
  useEffect(() => {
    if (first?.isClear)
      setQuery({ fulltext: null, page: null, [first.filter]: first.id }, { replace: true });
  }, [first]);
  if (!first || first.isClear) return null;
  return (
    <div class="notice">
      <p>Whose calls?</p>
      <ul class="chips" aria-label="Calls of">
        {choices.map(({ id, title, filter, word }) => (
          <li key={`${filter}/${id}`}>
            <a class="button" href={linkTo('calls', null, { [filter]: id })}>
              {title}, {word}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
