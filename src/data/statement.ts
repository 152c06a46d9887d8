import { inSpan } from '../platform/telemetry/tracing';

/**
 * A statement in the form that the pg driver takes. With a name, PostgreSQL keeps its plan on the
 * connection.
 */
export interface BoundStatement {
  name?: string;
  text: string;
  values: unknown[];
  /** Absent for a quick statement that is planned for its values. */
  kind?: StatementKind | undefined;
}

/**
 * Prepared: planned once per connection. A search may take long: it has connections of its own, and
 * less time than others.
 */
export type StatementKind = 'prepared' | 'search';

export type Query = <Row>(statement: BoundStatement) => Promise<Row[]>;

/** Runs each statement on the connection that `choose` picks. */
export const queryOn =
  (choose: (statement: BoundStatement) => Connection): Query =>
  async <Row>(statement: BoundStatement) => {
    const { rows } = await inSpan('composed statement', COMPOSED_SPAN, () =>
      choose(statement).query(statement),
    );
    return rows as Row[];
  };

const COMPOSED_SPAN = { kind: 'CLIENT', attributes: { 'db.system.name': 'postgresql' } } as const;

export interface Connection {
  query(bound: BoundStatement): Promise<{ rows: unknown[] }>;
}

/** A composed statement whose parameters are given by name. */
export type Template = (params: Record<string, unknown>) => BoundStatement;

/** Composed statements that are remembered; the most recently used is last. */
const MAX_REMEMBERED = 600;
const remembered = new Map<string, { name: string | undefined }>();
let nameCount = 0;

/**
 * Returns the name under which a composed statement is prepared; undefined at its first use.
 * Requests vary without limit, and each plan that a connection keeps costs memory. So a statement
 * that is used once gets no plan, and the least recently used one loses its name, which is never
 * used again (src/data/client.ts).
 */
export function statementName(text: string): string | undefined {
  const entry = remembered.get(text);
  if (!entry) {
    remembered.set(text, { name: undefined });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
    return undefined;
  }
  remembered.delete(text);
  remembered.set(text, entry);
  entry.name ??= `${COMPOSED}${nameCount++}`;
  return entry.name;
}

/** Prefix for names of composed statements; names of registered ones have a dot. */
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
 * it is planned once per connection: only for SQL whose best plan does not depend on its values.
 * Other statements are registered instead (src/data/sql.ts).
 */
export function template(
  sql: string,
  { prepared, search = false }: { prepared: boolean; search?: boolean },
): Template {
  const { text, parameters } = numberParameters(sql);
  const kind = chooseKind({ prepared, search });
  return (params) => {
    const name = prepared ? statementName(text) : undefined;
    const values = parameters.map((parameter) => {
      if (!(parameter in params)) throw new Error(`statement parameter ${parameter} is missing`);
      return params[parameter];
    });
    return { ...(name && { name }), text, values, kind };
  };
}

export const chooseKind = (options: {
  prepared: boolean;
  search?: boolean;
}): StatementKind | undefined => {
  if (options.prepared) return 'prepared';
  return options.search ? 'search' : undefined;
};
