import type { ComponentChild, ComponentType } from 'preact';
import type { FieldContract } from '../../noun-contract';
import type { SecretReader } from '../secrets';
import type { Session } from '../session';
import type { Json } from '../transport';
import type { Reads, Values } from '../form/model';

// The layout of a noun has what the contract does not say: the order of its fields, groups, words
// and help. A test places every field that the API takes.

export interface EditorProps {
  id: string;
  name: string;
  label: string;
  field: FieldContract;
  value: unknown;
  onChange: (value: unknown) => void;
  errors: readonly string[];
  disabled: boolean;
  /** All inputs of the form. */
  inputs: Values;
  /** The record as it is stored; without an id while it is new. */
  record: Json;
}

/** Edits several fields at once. */
export interface GroupEditorProps {
  inputs: Values;
  change: (name: string, value: unknown) => void;
  errors: Readonly<Record<string, readonly string[]>>;
  disabled: boolean;
  record: Json;
  /** The fields of the group that the caller may see. */
  fields: Readonly<Record<string, FieldContract>>;
}

export interface FieldLayout {
  field: string;
  label?: string;
  help?: string;
  unit?: string;
  placeholder?: string;
  editor?: ComponentType<EditorProps>;
  /** The field takes the width of the form; by default, where its editor or kind needs it. */
  isWide?: boolean;
  /** Shown only while this holds. */
  when?: (inputs: Values) => boolean;
  /** Needed while it is shown, where the contract cannot say so. */
  isRequired?: boolean;
  /** Emptied where it is not shown: the API refuses it then. */
  isClearedWhenHidden?: boolean;
}

export interface GroupLayout {
  title: string;
  fields: readonly (string | FieldLayout)[];
  editor?: ComponentType<GroupEditorProps>;
  /** The names that the editor has for its fields. */
  labels?: Readonly<Record<string, string>>;
  help?: string;
  /** Folded until somebody opens it. */
  isClosed?: boolean;
  /** Stands next to the title of a folded group in which nothing is set. */
  whenEmpty?: string;
  /** Its contents in one line, where the fields that are set do not say it. */
  summary?: ComponentType<{ record: Json }>;
  when?: (inputs: Values) => boolean;
  /** Only for new records, or only for stored ones. */
  only?: 'create' | 'update';
}

export interface ColumnLayout {
  /** The column of the API; also the key of `columns` in links. */
  name: string;
  title?: string;
  /** Instead of the format that its type has. */
  show?: (record: Json) => ComponentChild;
  /** Its text in files; `record` has the texts of the API. */
  cell?: (record: Readonly<Record<string, string>>) => string;
  /** Columns that `show` and `cell` read. */
  needs?: readonly string[];
  /** Shown unless a person chooses columns. */
  isHidden?: boolean;
}

/** A button of a record's page. */
export interface ActionLayout {
  title: (record: Json) => string;
  /** The permission that it takes. */
  scope: string;
  when?: (record: Json, session: Session) => boolean;
  run: (context: ActionContext) => Promise<string | undefined>;
  isDangerous?: boolean;
}

export interface ActionContext {
  record: Json;
  session: Session;
  send: (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: Json) => Promise<Json>;
  reload: () => Promise<void>;
}

export interface PanelProps {
  record: Json;
  reload: () => Promise<void>;
}

/** The API copies: by a field, and the one that names the original. */
export interface CopyByApi {
  field: string;
  idField?: string;
}

/** The form of a new record begins with the values of the original. */
export interface CopyByForm {
  /** Fields that are another's own, such as an identifier that is unique. */
  except: readonly string[];
  /** Copies what belongs to the original, once the copy is there. */
  after?: (context: { from: string; to: string; send: ActionContext['send'] }) => Promise<void>;
}

export interface Deletion {
  title: string;
  consequence: string;
  done: string;
  /** The kind of this record, where a noun has several. */
  nameKind?: (record: Json) => string;
}

export interface NounLayout {
  /** The noun of the API: `buyers`. */
  noun: string;
  /** Words of the trade, where the API has others: the help says both. */
  words: { singular: string; plural: string; also?: string };
  title: (record: Json) => string;
  /** One sentence for people who see the page for the first time. */
  about: string;
  reads?: Reads;
  groups: readonly GroupLayout[];
  labels?: Readonly<Record<string, string>>;
  /** Fields that are not in the form: buttons, wizards or nothing for people. */
  hidden?: readonly string[];
  columns: readonly (string | ColumnLayout)[];
  /** The columns of a file, in front of others that the table shows. */
  exported?: readonly ColumnLayout[];
  /** Filters that a person does not need. */
  hiddenFilters?: readonly string[];
  /** Filters that are shown first; all where there are no others. */
  usualFilters?: readonly string[];
  /** The other filters, by the titles of their groups. */
  filterGroups?: Readonly<Record<string, readonly string[]>>;
  /** By what the search finds records. */
  searches?: string;
  /** Sorted by this, descending, unless a person chooses; by default the order of the API. */
  order?: string;
  actions?: readonly ActionLayout[];
  /** Says what comes after a new record is stored, where its form is not all. */
  next?: string;
  /** Values that a new record has unless a person changes them, where the API has no default. */
  initial?: Json;
  /** Other words for deleting, as of a key that is revoked. */
  deletion?: Deletion;
  /** Secrets that answers to writes have once, and never again. */
  secrets?: SecretReader;
  copy?: CopyByApi | CopyByForm;
  /** The page for a new record, where making one takes more than a form. */
  creator?: ComponentType<{ layout: NounLayout }>;
  /** Shown on the page of a record, above its form. */
  panels?: readonly ComponentType<PanelProps>[];
  /** Shown above the table, as a wizard or a search is. */
  listPanels?: readonly ComponentType<{ reload: () => Promise<void> }>[];
  /** State of a record in a word, for its title and its row. */
  state?: (record: Json) => { text: string; tone: 'good' | 'bad' | 'warn' | 'plain' } | undefined;
  stateNeeds?: readonly string[];
  /** Values of a new record, from the query of a link: `offer_id` of an offer's page. */
  presets?: readonly string[];
}

/** Identity for layouts, which gives their literals a type. */
export const noun = (layout: NounLayout): NounLayout => layout;

/**
 * The body of a request without the fields that the form does not show: they were typed before
 * another choice took their meaning away.
 */
export function settleHidden(
  { groups }: Pick<NounLayout, 'groups'>,
  { body, inputs, record }: { body: Json; inputs: Values; record: Json },
): Json {
  const hidden = groups.flatMap((group) =>
    group.fields
      .map(toFieldLayout)
      .filter(({ when }) => !((group.when?.(inputs) ?? true) && (when?.(inputs) ?? true))),
  );
  const names = new Set(hidden.map(({ field }) => field));
  const isStored = (name: string) => record.id !== undefined && (record[name] ?? null) !== null;
  const cleared = hidden.filter((entry) => entry.isClearedWhenHidden && isStored(entry.field));
  return Object.fromEntries([
    ...Object.entries(body).filter(([name]) => !names.has(name)),
    ...cleared.map(({ field }) => [field, null]),
  ]);
}

/** The fields of a layout, as objects. */
export const toFieldLayout = (entry: string | FieldLayout): FieldLayout =>
  typeof entry === 'string' ? { field: entry } : entry;

export const toColumnLayout = (entry: string | ColumnLayout): ColumnLayout =>
  typeof entry === 'string' ? { name: entry } : entry;
