import type { Fields } from '../../noun-contract';
import { mergeChanges, type Clash, type Values } from './model';

// Drafts: the inputs of a form whose session ended. They are back in the same form when the same
// caller signs in again; others do not get them.

export interface Draft {
  /** The inputs that were changed. */
  typed: Values;
  /** Their values before. */
  base: Values;
  /** Those that may be stored while the page is left to sign in elsewhere. */
  storable: readonly string[];
}

interface Drafts {
  owner: string;
  /** By the key of the form. */
  byForm: Readonly<Record<string, Draft>>;
}

const STORAGE_KEY = 'trunkline.drafts';

type ReadDraft = () => readonly [key: string, draft: Draft];
const forms = new Set<ReadDraft>();
let kept = readStored();

/** Lets a form keep what is typed in it; gives what ends that. */
export function registerForm(read: ReadDraft): () => void {
  forms.add(read);
  return () => void forms.delete(read);
}

/** Called before the forms go with the session of their caller. */
export function keepDrafts(owner: string): void {
  const drafts = [...forms]
    .map((read) => read())
    .filter(([, { typed }]) => Object.keys(typed).length > 0);
  if (drafts.length > 0) kept = { owner, byForm: Object.fromEntries(drafts) };
}

export const hasDrafts = (): boolean => kept !== undefined;

/** Forgets them unless they are this caller's. */
export function forgetOthersDrafts(owner: string | undefined): void {
  if (kept?.owner !== owner) kept = undefined;
}

export function takeDraft(key: string): Draft | undefined {
  const { [key]: draft, ...others } = kept?.byForm ?? {};
  if (kept && draft)
    kept = Object.keys(others).length > 0 ? { ...kept, byForm: others } : undefined;
  return draft;
}

/** A provider of sign-in is another page: memory does not last until one is back. */
addEventListener('pagehide', () => {
  if (!kept) return;
  const byForm = Object.fromEntries(
    Object.entries(kept.byForm).map(([key, draft]) => [key, keepStorable(draft)]),
  );
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ owner: kept.owner, byForm }));
});
addEventListener('pageshow', () => sessionStorage.removeItem(STORAGE_KEY));

function readStored(): Drafts | undefined {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  return stored === null ? undefined : (JSON.parse(stored) as Drafts);
}

export const pickValues = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, values[name]]));

const keepStorable = ({ typed, base, storable }: Draft): Draft => ({
  typed: pickValues(typed, storable),
  base: pickValues(base, storable),
  storable,
});

/** Secrets are not stored, nor what has parts, where a secret may be. */
export function buildDraft(fields: Fields, base: Values, typed: Values): Draft {
  const names = Object.keys(typed);
  const isStorable = (name: string) => !fields[name]?.secret && typeof typed[name] !== 'object';
  return { typed, base: pickValues(base, names), storable: names.filter(isStorable) };
}

/** Puts a draft on a record as it is now; a field that another has changed since is a conflict. */
export function resumeDraft(draft: Draft, latest: Values): { typed: Values; clash?: Clash } {
  const names = Object.keys(draft.typed).filter((name) => name in latest);
  const typed = pickValues(draft.typed, names);
  const before = { ...latest, ...pickValues(draft.base, names) };
  const clash = mergeChanges(before, { ...before, ...typed }, latest);
  return { typed, ...(clash.conflicts.length > 0 && { clash }) };
}
