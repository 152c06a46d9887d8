import type { Client } from 'pg';

// Statements as PostgreSQL understands them: with the tables, columns and functions that their
// names mean. It keeps the body of a function in SQL as such a tree.

export type Value = Node | Value[] | string | null;

/** A node of the tree of a statement; its fields are those of PostgreSQL's source. */
export interface Node {
  readonly type: string;
  readonly [field: string]: Value;
}

export const isNode = (value: Value | undefined): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list of nodes; an empty one is written as no value. */
export const listNodes = (value: Value | undefined): Node[] =>
  Array.isArray(value) ? value.flatMap((item) => (isNode(item) ? item : listNodes(item))) : [];

/** Brackets, quoted names, and everything else up to a space. */
const TOKEN = /[{}()]|"(?:[^"\\]|\\[\s\S])*"|(?:\\[\s\S]|[^\s{}()\\])+/g;

/** Reads the text of a tree: nodes are `{TYPE :field value}`, lists are `(item item)`. */
export function parseTree(text: string): Value {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  const value = (): Value => {
    const token = tokens[at++]!;
    if (token === '{') return node();
    if (token === '(') {
      const items: Value[] = [];
      while (tokens[at] !== ')') items.push(value());
      at++;
      return items;
    }
    if (token === '<>') return null;
    return token.startsWith('"') ? token.slice(1, -1) : token;
  };
  const node = (): Node => {
    const fields: Record<string, Value> = { type: tokens[at++]! };
    while (tokens[at] !== '}') {
      const name = tokens[at++]!.slice(1);
      const values: Value[] = [];
      while (tokens[at] !== '}' && !tokens[at]!.startsWith(':')) values.push(value());
      fields[name] = values.length === 1 ? values[0]! : values;
    }
    at++;
    return fields as unknown as Node;
  };
  return value();
}

/** Visits a tree, but not what `enter` refuses. */
export function walk(value: Value | undefined, enter: (node: Node) => boolean): void {
  if (Array.isArray(value)) for (const item of value) walk(item, enter);
  else if (isNode(value) && enter(value))
    for (const field of Object.values(value)) if (typeof field === 'object') walk(field, enter);
}

export interface Table {
  name: string;
  /** The number of its column company_id. */
  company: string | undefined;
}

/** Meanings of the numbers in trees. */
export interface Names {
  tables: Map<string, Table>;
  functions: Map<string, { name: string; volatility: 'immutable' | 'stable' | 'volatile' }>;
  /** Operators that are called `=`. */
  equals: Set<string>;
}

export interface AnalyzedSql {
  names: Names;
  /** The trees of a statement with the parameters $1, $2 and so on. */
  analyze(text: string, needs?: string): Promise<Node>;
}

/** Analyzes statements on a migrated database. */
export async function analyzer(client: Client): Promise<AnalyzedSql> {
  const names = await readNames(client);
  let count = 0;
  return {
    names,
    analyze: async (text, needs) => {
      if (needs) await client.query(needs);
      const name = `analyzed_${++count}`;
      await client.query(`PREPARE ${name} AS ${text}`);
      const { rows } = await client.query<{ types: string }>(
        `SELECT array_to_string(parameter_types, ', ') AS types
        FROM pg_prepared_statements WHERE name = $1`,
        [name],
      );
      await client.query(`CREATE FUNCTION pg_temp.${name}(${rows[0]!.types}) RETURNS void
        LANGUAGE sql BEGIN ATOMIC ${text}; END`);
      const { rows: definitions } = await client.query<{ body: string }>(
        'SELECT prosqlbody::text AS body FROM pg_proc WHERE proname = $1',
        [name],
      );
      await client.query(`DEALLOCATE ${name}`);
      return listNodes(parseTree(definitions[0]!.body))[0]!;
    },
  };
}

async function readNames(client: Client): Promise<Names> {
  const tables = await client.query<{ oid: string; name: string; company: string | null }>(`
    SELECT c.oid::text, c.relname AS name, a.attnum::text AS company
    FROM pg_class c
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'company_id'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'`);
  const functions = await client.query<{
    oid: string;
    name: string;
    volatility: 'immutable' | 'stable' | 'volatile';
  }>(`SELECT oid::text, proname AS name,
      CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END
        AS volatility
    FROM pg_proc`);
  const equals = await client.query<{ oid: string }>(
    `SELECT oid::text FROM pg_operator WHERE oprname = '='`,
  );
  return {
    tables: new Map(
      tables.rows.map(({ oid, name, company }) => [oid, { name, company: company ?? undefined }]),
    ),
    functions: new Map(functions.rows.map(({ oid, ...rest }) => [oid, rest])),
    equals: new Set(equals.rows.map(({ oid }) => oid)),
  };
}
