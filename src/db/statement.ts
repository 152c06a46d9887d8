import { inSpan } from '../telemetry/tracing';

/**
 * A statement as the pg driver takes it. With a name, PostgreSQL keeps its plan on the connection.
 */
export interface BoundStatement {
  name?: string;
  text: string;
  values: unknown[];
  /** Absent for a statement that is planned for its values and quick. */
  kind?: StatementKind | undefined;
}

/**
 * Prepared: planned once a connection. A search may take long: it has connections of its own, and
 * less time than others.
 */
export type StatementKind = 'prepared' | 'search';

/** Runs a statement and returns its rows. */
export type Query = <Row>(statement: BoundStatement) => Promise<Row[]>;

/** Runs statements on what `choose` picks for each. */
export const queryOn =
  (choose: (statement: BoundStatement) => Connection): Query =>
  async <Row>(statement: BoundStatement) => {
    const { rows } = await inSpan('composed statement', COMPOSED_SPAN, () =>
      choose(statement).query(statement),
    );
    return rows as Row[];
  };

const COMPOSED_SPAN = { kind: 'CLIENT', attributes: { 'db.system.name': 'postgresql' } } as const;

/** What runs statements: a pool, or a connection. */
export interface Connection {
  query(bound: BoundStatement): Promise<{ rows: unknown[] }>;
}

/** A composed statement whose parameters are given by name. */
export type Template = (params: Record<string, unknown>) => BoundStatement;

/** Composed statements that are remembered; the one used last is at the end. */
const MAX_REMEMBERED = 600;
const remembered = new Map<string, { name: string | undefined }>();
let named = 0;

/**
 * Returns the name under which a composed statement is prepared; undefined at its first use. What
 * requests ask for varies without limit, and each plan that a connection keeps costs memory. So
 * what is asked for once gets no plan, and what was not asked for longest loses its name, which
 * nothing has again (db/prepared-plans.ts).
 */
export function statementName(text: string): string | undefined {
  const known = remembered.get(text);
  if (!known) {
    remembered.set(text, { name: undefined });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
    return undefined;
  }
  remembered.delete(text);
  remembered.set(text, known);
  known.name ??= `${COMPOSED}${named++}`;
  return known.name;
}

/** What the names of composed statements begin with; those of registered ones have a dot. */
const COMPOSED = 's';
export const isComposed = (name: string): boolean => /^s\d+$/.test(name);

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
export function template(
  sql: string,
  { prepared, search = false }: { prepared: boolean; search?: boolean },
): Template {
  const { text, parameters } = numberParameters(sql);
  const kind = kindOf({ prepared, search });
  return (params) => {
    const name = prepared ? statementName(text) : undefined;
    const values = parameters.map((parameter) => {
      if (!(parameter in params)) throw new Error(`statement parameter ${parameter} is missing`);
      return params[parameter];
    });
    return { ...(name && { name }), text, values, kind };
  };
}

export const kindOf = (options: {
  prepared: boolean;
  search?: boolean;
}): StatementKind | undefined => {
  if (options.prepared) return 'prepared';
  return options.search ? 'search' : undefined;
};
