import { useEffect, useState } from 'preact/hooks';
import { loadTitles } from '../form/references';
import { NOTHING } from '../format';
import { linkTo } from '../route';
import { useSession, type Session } from '../session';
import type { Transport } from '../transport';
import { mayDo } from './access';

type Titles = ReadonlyMap<string, string>;
interface Batch {
  ids: Set<string>;
  titles: Promise<Titles>;
}

/** The names that one turn of the page has asked for are loaded by one request a noun. */
const batches = new WeakMap<Transport, Map<string, Batch>>();

async function loadTitle(session: Session, noun: string, id: string): Promise<string | undefined> {
  const open = batches.get(session.transport) ?? new Map<string, Batch>();
  batches.set(session.transport, open);
  let batch = open.get(noun);
  if (!batch) {
    const ids = new Set<string>();
    const titles = new Promise((resolve) => setTimeout(resolve)).then(async () => {
      open.delete(noun);
      const choices = await loadTitles(session, noun, [...ids]).catch(() => []);
      return new Map(choices.map(({ id: key, title }) => [key, title]));
    });
    open.set(noun, (batch = { ids, titles }));
  }
  batch.ids.add(id);
  return (await batch.titles).get(id);
}

interface RecordNameProps {
  noun: string;
  id: unknown;
  /** Only the name, where the page is not to be left. */
  isPlain?: boolean;
}

/** A record by its name, with a link to its page; by its number where the caller may not read it. */
export function RecordName({ noun, id, isPlain }: RecordNameProps) {
  const session = useSession();
  const contract = session.contract.nouns[noun];
  const isReadable = contract !== undefined && mayDo(session, contract, 'list');
  const key = id === null || id === undefined ? '' : String(id);
  const [title, setTitle] = useState<string>();
  useEffect(() => {
    if (key === '' || !isReadable) return;
    let isOutdated = false;
    void loadTitle(session, noun, key).then((name) => {
      if (!isOutdated) setTitle(name);
    });
    return () => void (isOutdated = true);
  }, [noun, key, isReadable]);
  if (key === '') return <>{NOTHING}</>;
  const name = title ?? `No. ${key}`;
  return isReadable && !isPlain ? <a href={linkTo(noun, key)}>{name}</a> : <>{name}</>;
}

/** Several records by their names. */
export function RecordNames({ noun, ids }: { noun: string; ids: unknown }) {
  const shown = Array.isArray(ids) ? ids : [];
  if (shown.length === 0) return <>{NOTHING}</>;
  return (
    <>
      {shown.map((id, index) => (
        <span key={String(id)}>
          {index > 0 && ', '}
          <RecordName noun={noun} id={id} />
        </span>
      ))}
    </>
  );
}
