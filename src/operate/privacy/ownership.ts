import type { Config } from '../../platform/config';
import { SCHEMA } from '../../generated/schema';
import type { Column, ForeignKey, Table } from '../../data/schema';

// The one table of what belongs to whom, read by erasure, retention and the removal of a company.
// It follows from the foreign keys and the marks of prisma/schema.prisma, which explains them.

/** Days for which records are kept, by setting; 0 is forever. */
export type Retention = Pick<
  Config,
  'call_days' | 'lead_days' | 'message_days' | 'change_log_days'
>;

/** Conditions of SQL; the table is `t`. */
interface Condition {
  where: string;
}

export interface Owner extends Condition {
  kind: 'call' | 'lead' | 'address' | 'number';
}

export interface RetentionRule extends Condition {
  /** A setting, or an interval of PostgreSQL. */
  period: string;
  since: string;
}

/** The value of a column after the erasure of its row. */
interface Assignment {
  column: string;
  value: string;
}

const BY_REQUEST = 'change it where it is about the person';

/** Why a column stays that is or may be about a person. The text is that of the receipt. */
export const KEPT_REASONS: Readonly<Record<string, string>> = {
  'at carrier':
    'the id at the carrier, by which costs are settled and the carrier deletes its own record',
  'for a day': 'is deleted by itself within a day',
  'for reports': 'names nobody; reports and money stay as they were',
  'in use': `a setting that is in use: ${BY_REQUEST}`,
  'no contact':
    'keeps the person from being contacted, where the person has opted out or is blocked',
  'own key': `the company's own key of a record: ${BY_REQUEST}`,
  uploaded:
    'an uploaded file keeps its rows: delete the record of the file where it is about the person',
};
/** Rows that name the person in such a column are counted on the receipt, for people to change. */
const COUNTED_REASONS = ['in use', 'own key'];

export interface ColumnRule extends Column {
  is_personal: boolean;
  words: readonly string[];
  /** Its value after an erasure, and the condition for that. */
  to: string | undefined;
  where: string | undefined;
}

export interface OwnedTable extends Table {
  rules: readonly ColumnRule[];
  /** How rows about a person are found. */
  owners: readonly Owner[];
  /** Rows about a person that are deleted; undefined where none are. */
  deletedRows: Condition | undefined;
  /** The columns that are emptied in rows about a person, and what changes with them. */
  emptied: readonly Assignment[];
  changed: readonly Assignment[];
  retention: readonly RetentionRule[];
}

export interface Reference {
  table: OwnedTable;
  column: string;
  /** Its row is deleted with that which it names; otherwise it forgets it. */
  is_part: boolean;
}

const ROOTS: Readonly<Record<string, 'call' | 'lead'>> = { calls: 'call', leads: 'lead' };

const listMarks = ({ marks }: Pick<Table, 'marks'>, word: string): string[] =>
  marks.flatMap((mark) => (mark.word === word ? mark.text : []));

function readRule(column: Column): ColumnRule | undefined {
  const { mark } = column;
  if (!mark) return undefined;
  const [text, where] = mark.text.split(' where ');
  const [words, to] = text!.split(' to ');
  return {
    ...column,
    is_personal: mark.word === 'personal',
    words: words!.split(', '),
    to,
    where,
  };
}

const EMPTY_VALUES: Readonly<Record<string, string>> = { BigInt: '0', Json: `'{}'`, String: `''` };

function toEmptyValue({ type, is_list, is_optional }: ColumnRule): string {
  if (is_list) return `'{}'`;
  return is_optional ? 'NULL' : EMPTY_VALUES[type]!;
}

function listAssignments(rules: readonly ColumnRule[], word: string): Assignment[] {
  return rules
    .filter(({ words }) => words.includes(word))
    .map((rule) => {
      const value = rule.to ?? toEmptyValue(rule);
      const { name: column, where } = rule;
      return {
        column,
        value: where ? `CASE WHEN ${where} THEN ${value} ELSE t.${column} END` : value,
      };
    });
}

/** True for a column with the telephone number of the person. */
const isNumber = ({ type, is_personal, words }: ColumnRule): boolean =>
  type === 'BigInt' && is_personal && (!words.includes('stays') || words.includes('no contact'));

const PARAMETERS: Readonly<Record<Owner['kind'], string>> = {
  call: '= ANY ({call_ids}::bigint[])',
  lead: '= ANY ({lead_ids}::bigint[])',
  address: '= ANY ({emails}::text[])',
  number: '= {number}::bigint',
};

function buildOwner(kind: Owner['kind'], expression: string, where?: string): Owner {
  const match = `${expression} ${PARAMETERS[kind]}`;
  return { kind, where: where ? `(${where}) AND ${match}` : match };
}

/** Reads `call record_id where record_type = 'Call'`. */
function readOwner(text: string): Owner {
  const [, kind, expression, where] = /^(\w+) (.*?)(?: where (.*))?$/.exec(text)!;
  return buildOwner(kind as Owner['kind'], expression!, where);
}

function listOwners(table: Table, rules: readonly ColumnRule[]): Owner[] {
  const root = ROOTS[table.name];
  if (root) return [buildOwner(root, 't.id')];
  return [
    ...listParts(table).map(({ column, target }) => buildOwner(ROOTS[target]!, `t.${column}`)),
    ...listMarks(table, 'about').map(readOwner),
    ...rules.filter(isNumber).map(({ name }) => buildOwner('number', `t.${name}`)),
  ];
}

/** Foreign keys of a table whose rows are parts of calls or leads. */
const listParts = ({ foreignKeys }: Table): ForeignKey[] =>
  foreignKeys.filter(({ is_optional, target }) => !is_optional && target in ROOTS);

function readRetention(text: string): RetentionRule {
  const [, period, since, where = 'true'] = /^(.*?) since (\w+)(?:, where (.*))?$/.exec(text)!;
  return { period: period!, since: since!, where: `(${where})` };
}

/** True for rows that are kept for the same time in every installation. */
export const isInterval = ({ period }: RetentionRule): boolean => /^\d/.test(period);

function readDeletion(table: Table): Condition | undefined {
  const [deletion] = listMarks(table, 'erasure').filter((text) => text.startsWith('deleted'));
  if (deletion === undefined) return undefined;
  return { where: `(${deletion.split(/ where (.*)/)[1] ?? 'true'})` };
}

function readOwned(table: Table): OwnedTable {
  const rules = table.columns.flatMap((column) => readRule(column) ?? []);
  const isErasedElsewhere = listMarks(table, 'erasure').some((text) => text.startsWith('by '));
  return {
    ...table,
    rules,
    owners: isErasedElsewhere ? [] : listOwners(table, rules),
    deletedRows: readDeletion(table),
    emptied: isErasedElsewhere ? [] : listAssignments(rules, 'erased'),
    changed: listAssignments(rules, 'set'),
    retention: listMarks(table, 'retention').map(readRetention),
  };
}

export const OWNERSHIP: readonly OwnedTable[] = SCHEMA.map(readOwned);

/** Foreign keys of other tables, and columns that stand for some, that name rows of a table. */
export const listReferences = (name: string): Reference[] =>
  OWNERSHIP.flatMap((table) => [
    ...listMarks(table, 'part of')
      .map((text) => text.split(' '))
      .filter(([root]) => root === ROOTS[name])
      .map(([, column]) => ({ table, column: column!, is_part: true })),
    ...table.foreignKeys
      .filter(({ target }) => target === name)
      .map(({ column, is_optional }) => ({ table, column, is_part: !is_optional })),
  ]);

/** Tables whose rows are of one company. */
export const COMPANY_TABLES: readonly OwnedTable[] = OWNERSHIP.filter(({ columns }) =>
  columns.some(({ name }) => name === 'company_id'),
);

/** Tables with rows of companies that are useful to this installation only. */
export const UNEXPORTED_TABLES: readonly string[] = OWNERSHIP.filter(
  (table) => listMarks(table, 'export').length > 0,
).map(({ name }) => name);

interface SearchedTable {
  table: string;
  columns: ColumnRule[];
}

const listSearchedTables = (isSearched: (rule: ColumnRule) => boolean): SearchedTable[] =>
  OWNERSHIP.map(({ name, rules }) => ({ table: name, columns: rules.filter(isSearched) })).filter(
    ({ columns }) => columns.length > 0,
  );

/** Text from which the number and the addresses of a person are removed. */
export const REDACTED_TABLES: readonly SearchedTable[] = listSearchedTables(({ words }) =>
  words.includes('redacted'),
);

/**
 * Columns that stay and are searched, so that the receipt can count the rows that name the person.
 */
export const COUNTED_TABLES: readonly SearchedTable[] = listSearchedTables(({ words }) =>
  words.some((word) => COUNTED_REASONS.includes(word)),
);

/** Tables of which a row that mentions the person anywhere is erased as a whole. */
export const WHOLE_ROWS: readonly OwnedTable[] = OWNERSHIP.filter(
  (table) => listMarks(table, 'search').length > 0,
);

export interface KeptTableColumns {
  table: string;
  columns: string[];
  why: string;
}

/** Columns that stay and name a person, or may name one, and why. */
export const KEPT_TABLE_COLUMNS: readonly KeptTableColumns[] = OWNERSHIP.flatMap(
  ({ name, rules }) =>
    Object.entries(KEPT_REASONS).flatMap(([reason, why]) => {
      const columns = rules.filter(({ words }) => words.includes(reason));
      return columns.length > 0
        ? [{ table: name, columns: columns.map((column) => column.name), why }]
        : [];
    }),
);
