import type { Pool, PoolClient } from 'pg';

/**
 * A statement as the pg driver takes it. With a name, PostgreSQL keeps its plan on the connection.
 */
export interface BoundStatement {
  name?: string;
  text: string;
  values: unknown[];
}

/** Runs a statement and returns its rows. */
export type Query = <Row>(statement: BoundStatement) => Promise<Row[]>;

/** Runs statements on what `choose` picks for each. */
export const queryOn =
  (choose: (statement: BoundStatement) => Pool | PoolClient): Query =>
  async <Row>(statement: BoundStatement) =>
    (await choose(statement).query(statement)).rows as Row[];

/** A composed statement whose parameters are given by name. */
export type Template = (params: Record<string, unknown>) => BoundStatement;

/**
 * Each plan that a connection keeps costs memory, so only so many composed statements get a name.
 */
const MAX_NAMES = 600;
const names = new Map<string, string>();

/** Returns the name under which a statement is prepared; undefined once all names are taken. */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= MAX_NAMES) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

/** Replaces `{name}` by the numbered parameters of PostgreSQL. */
export function numberParameters(sql: string): { text: string; parameters: string[] } {
  const parameters: string[] = [];
  const text = sql.replace(/\{([a-z_]\w*)\}/g, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  return { text, parameters };
}

/**
 * Compiles SQL that is composed for a request, with parameters written as `{name}`. With `prepared`
 * it is planned once a connection: only for SQL whose best plan does not depend on its values.
 * Statements that are not composed are registered instead (db/sql.ts).
 */
export function template(sql: string, { prepared }: { prepared: boolean }): Template {
  const { text, parameters } = numberParameters(sql);
  const name = prepared ? statementName(text) : undefined;
  return (params) => ({
    ...(name && { name }),
    text,
    values: parameters.map((parameter) => {
      if (!(parameter in params)) throw new Error(`statement parameter ${parameter} is missing`);
      return params[parameter];
    }),
  });
}
