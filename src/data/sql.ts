import type { SqlTypes } from '../generated/sql';
import { inSpan } from '../platform/telemetry/tracing';
import {
  chooseKind,
  numberParameters,
  type BoundStatement,
  type Connection,
  type StatementKind,
} from './statement';

/** A statement or a part of one. Written in `<room>/queries/` and nowhere else. */
export class SqlText {
  constructor(readonly text: string) {}
}

/**
 * SQL with parameters written as `{name}`. Only other SQL can be inserted, such as a list of
 * columns that several statements share: a value is always a parameter. Backslashes are literal: a
 * pattern reaches the database as it is written.
 */
export const sql = (strings: TemplateStringsArray, ...parts: SqlText[]): SqlText =>
  new SqlText(String.raw(strings, ...parts.map(({ text }) => text)).trim());

/** The format of to_char() for times in UTC as the API shows them. */
export const TIMESTAMP_FORMAT = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"'`;

/** Names of the registered statements, as `<room>.<what it does>`. */
export type StatementName = keyof SqlTypes;

/** The parameters of a statement, by name, as the pg driver takes them. */
export type Params<Name extends StatementName> = SqlTypes[Name]['params'];

/** A row as the pg driver returns it: bigint and numeric are strings, timestamps are Dates. */
export type Row<Name extends StatementName, Narrowed = unknown> = Omit<
  SqlTypes[Name]['row'],
  keyof Narrowed
> &
  Narrowed;

export interface StatementOptions {
  /**
   * True: PostgreSQL plans it once per connection and keeps the plan; only for SQL whose best plan
   * does not depend on the values. False: planned for its values each time.
   */
  prepared: boolean;
  /**
   * Set if the amount that it reads depends on its values, such as for a report: it gets less time.
   */
  search?: boolean;
  /** Expressions that can be null. For columns of a table the generator knows it. */
  nullable?: readonly string[];
  /**
   * Set if it records events with their rows: in a transaction, these are completed at its end
   * (src/data/complete-events.ts).
   */
  records?: boolean;
  /** Run before the statement is checked, to make the temporary tables that it uses. */
  needs?: SqlText;
}

/** Columns with a narrower type than PostgreSQL knows, such as the values of an enumeration. */
type NarrowerThan<Name extends StatementName, Narrowed> = {
  [Column in keyof Narrowed]: Column extends keyof SqlTypes[Name]['row']
    ? SqlTypes[Name]['row'][Column]
    : never;
};

/** A statement of `<room>/queries/`: checked and typed by `npm run generate:sql`. */
export class Statement<Name extends StatementName, Narrowed = unknown> {
  readonly text: string;
  readonly parameters: readonly string[];
  private readonly kind: StatementKind | undefined;
  /** Only for type inference. */
  declare readonly narrowed?: Narrowed;

  constructor(
    readonly name: Name,
    source: SqlText,
    readonly options: StatementOptions,
  ) {
    const { text, parameters } = numberParameters(source.text);
    this.text = text;
    this.parameters = parameters;
    this.kind = chooseKind(options);
  }

  /** Narrows the types of some columns. */
  returning<More extends NarrowerThan<Name, More>>(): Statement<Name, More> {
    return this as unknown as Statement<Name, More>;
  }

  bind(params: object): BoundStatement {
    const input = params as Record<string, unknown>;
    const values = this.parameters.map((parameter) => {
      if (input[parameter] === undefined)
        throw new Error(`${this.name} lacks the parameter ${parameter}`);
      return input[parameter];
    });
    const { text, kind } = this;
    return { ...(this.options.prepared && { name: this.name }), text, values, kind };
  }
}

/** All loaded statements; read by scripts/generate-sql.ts. */
export const statements = new Map<string, Statement<StatementName>>();

/** Registers a statement. Its name is unique; its types are in src/generated/sql.ts. */
export function statement<Name extends StatementName>(
  name: Name,
  source: SqlText,
  options: StatementOptions,
): Statement<Name> {
  if (statements.has(name)) throw new Error(`two statements are called ${name}`);
  const created = new Statement(name, source, options);
  statements.set(name, created as unknown as Statement<StatementName>);
  return created;
}

export type Sql = <Name extends StatementName, Narrowed>(
  statement: Statement<Name, Narrowed>,
  params: Params<Name>,
) => Promise<Row<Name, Narrowed>[]>;

/** Runs a statement for one company: `{company_id}` is filled in. */
export type TenantSql = <Name extends StatementName, Narrowed>(
  statement: Statement<Name, Narrowed>,
  params: Omit<Params<Name>, 'company_id'> & { company_id?: bigint | number | string | null },
) => Promise<Row<Name, Narrowed>[]>;

const STATEMENT_SPAN = {
  kind: 'CLIENT',
  attributes: { 'db.system.name': 'postgresql' },
} as const;

/** Runs statements on a connection, or on the one that `choose` picks for each. */
export const sqlOn =
  (choose: Connection | ((bound: BoundStatement) => Connection)): Sql =>
  async <Name extends StatementName, Narrowed>(
    statement: Statement<Name, Narrowed>,
    params: object,
  ) => {
    const bound = statement.bind(params);
    const connection = typeof choose === 'function' ? choose(bound) : choose;
    const run = () => connection.query(bound);
    const { rows } = await inSpan(statement.name, STATEMENT_SPAN, run);
    return rows as Row<Name, Narrowed>[];
  };

export const tenantSql =
  (run: Sql, companyId: bigint): TenantSql =>
  (statement, params) =>
    run(statement, { company_id: companyId, ...params } as never);
