/** A statement ready to run. A name makes PostgreSQL keep its plan on the connection. */
export interface BoundStatement {
  name?: string;
  text: string;
  values: unknown[];
}

/** A statement whose parameters are filled in by name. */
export type Template = (input: Record<string, unknown>) => BoundStatement;

/** Plans kept on a connection cost memory there, so that only so many statements get one: the first that come. */
const MOST_NAMES = 600;
const names = new Map<string, string>();

/** The name under which a statement is planned once a connection; undefined when there are names enough. */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= MOST_NAMES) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * Compiles SQL with parameters written as `{name}`. With `prepared`, the statement is planned once a connection: only for SQL whose
 * best plan does not depend on its values.
 */
export function template(sql: string, { prepared }: { prepared: boolean }): Template {
  const parameters: string[] = [];
  const text = sql.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  const name = prepared ? statementName(text) : undefined;
  return (input) => ({
    ...(name && { name }),
    text,
    values: parameters.map((parameter) => value(input, parameter)),
  });
}

function value(input: Record<string, unknown>, parameter: string): unknown {
  if (!(parameter in input)) throw new Error(`statement parameter ${parameter} is missing`);
  return input[parameter];
}
