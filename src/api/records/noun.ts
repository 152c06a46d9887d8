import type { Prisma } from '../../generated/prisma/client';
import type { SortKey } from '../../data/projection/list-statements';
import { commonColumns, type Column, type Projection } from '../../data/projection/projection';
import type { Table } from '../../data/references';
import { readTable, type Column as StoredColumn } from '../../data/schema';
import type { Db } from '../../data/db';
import {
  contract,
  facets,
  readDefaults,
  type OperationId,
  type Schema,
  type Schemas,
} from '../../platform/contract/contract';
import type { Handler } from '../handlers';
import type { Filters, ListQuery } from './filters';
import { list } from './list';
import type { Fields, Part, Steps, Stored } from './steps';
import { createWriter } from './writer';

// A noun of the API, declared once: its table, the columns that are not stored under their name,
// the rows of other tables that belong to it. Everything else about it is in the contract and in
// prisma/schema.prisma, and derived: columns, orders, filters by reference, defaults, handlers.

type SchemaName = keyof Schemas & string;
export type Model = Prisma.ModelName;

/** Columns that every noun has, or whose SQL is the same for all. */
type Common = 'type' | 'legacy_id' | 'routes_show_path' | 'routes_edit_path';

export interface Declaration<
  Name extends SchemaName,
  M extends Model,
  Singular extends string,
  Plural extends Table,
  Names extends Partial<Record<Verb, OperationId>>,
  Pairs extends string,
  V extends Verb,
> extends Omit<Projection<Name, Singular, Plural>, 'columns' | 'fulltext' | 'limitedFulltext'> {
  /** The model of Prisma, where it has another name than the schema of the contract. */
  model?: M;
  /** The noun in URLs, where it is not that of the table. */
  path?: string;
  /** The operations that `handlers` answers: by default all of these that the contract has. */
  verbs?: readonly V[];
  /** Names of operations that are not built of verb and noun. */
  names?: Names;
  /** SQL over t of the columns that are not stored under their name. */
  computed?: Partial<Record<keyof Schemas[Name], string>> &
    Record<Exclude<keyof Schemas[Name], keyof Stored<M> | Common | Pairs>, string>;
  /** The columns that `fulltext` searches, in the order of their index; or its SQL. */
  search?: readonly (keyof Stored<M> & string)[] | string;
  /** Sort keys that are no column, or differ from it. */
  orders?: Record<string, SortKey>;
  /** Filters other than those that name a record in a column of their own name. */
  filters?: Filters;
  /** Parameters of the list that its own handler reads. */
  handled?: readonly string[];
  /** Fields that name a record in a column of their own name, in the order of locks. */
  references?: readonly (keyof Fields<Name> & keyof Stored<M> & string)[];
  /** Lists of ids that are pairs in another table. */
  parts?: Record<Pairs & keyof Schemas[Name], Part>;
  /** Models whose rows a deletion deletes (pairs), or whose reference to the record it clears. */
  detach?: { deleted?: readonly Uncapitalize<Model>[]; cleared?: readonly Uncapitalize<Model>[] };
}

type AnyDeclaration = Omit<
  Declaration<'Buyer', 'Buyer', string, Table, Record<never, never>, string, Verb>,
  'schema' | 'computed' | 'search'
> & { schema: string; computed?: Record<string, string>; search?: readonly string[] | string };

const VERBS = ['list', 'new', 'show', 'create', 'update', 'delete'] as const;
type Verb = (typeof VERBS)[number];

type Pascal<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Head>}${Pascal<Tail>}`
  : Capitalize<S>;
type OperationName<
  V extends Verb,
  Name extends string,
  Plural extends string,
  Names,
> = V extends keyof Names
  ? Names[V] & string
  : V extends 'list'
    ? `list${Pascal<Plural>}`
    : `${V}${Name}`;
type NounHandlers<Name extends string, Plural extends string, Names, Verbs extends Verb> = {
  [V in Verbs as OperationName<V, Name, Plural, Names> & OperationId]: Handler<
    OperationName<V, Name, Plural, Names> & OperationId
  >;
};

const toPascal = (text: string): string =>
  text.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Declares a noun. Throws at start for an order or a filter of the contract that it lacks. */
export function noun<
  const Name extends SchemaName,
  const Singular extends string,
  const Plural extends Table,
  const M extends Model = Name & Model,
  const Names extends Partial<Record<Verb, OperationId>> = Record<never, never>,
  const Pairs extends string = never,
  const V extends Verb = Verb,
>(declaration: Declaration<Name, M, Singular, Plural, Names, Pairs, V>) {
  const { schema, plural, names = {}, model = schema as unknown as M } = declaration;
  const answered: readonly Verb[] = declaration.verbs ?? VERBS;
  const projection = buildProjection(declaration as never as AnyDeclaration) as Projection<
    Name,
    Singular,
    Plural
  >;
  const verbs = Object.fromEntries(
    VERBS.map((verb) => [
      verb,
      (names as Partial<Record<Verb, string>>)[verb] ??
        (verb === 'list' ? `list${toPascal(plural)}` : `${verb}${schema}`),
    ]),
  ) as Record<Verb, string>;
  const orders = buildOrders(verbs.list, projection, declaration.orders);
  const filters = { ...buildFilters(verbs.list, projection), ...declaration.filters };
  requireFilters(verbs.list, [...Object.keys(filters), ...(declaration.handled ?? [])]);
  const defaults = loadDefaults(schema) as Partial<Fields<Name>>;
  const { references = [], parts = {}, detach = {} } = declaration;
  const columns = listColumns(projection, references);
  const target = { projection, model, defaults, references, parts, columns, detach };
  const read = <Query extends ListQuery>(query: Query, { db, now }: { db: Db; now: Date }) =>
    list(query, { db, now, projection, orders, filters });
  return {
    projection,
    orders,
    defaults,
    /** A page of the noun, or all of it as CSV. */
    list: read,
    /** Writes by the steps that are peculiar to the noun. */
    writer: <Locked = undefined, Reads extends keyof Stored<M> & string = never>(
      { clock }: { clock: () => Date },
      steps: Steps<Name, M, Locked, Reads> = {},
    ) => createWriter(target, clock, steps),
    /** The handlers of the noun's operations in the contract. */
    handlers<Locked = undefined, Reads extends keyof Stored<M> & string = never>(
      { clock }: { clock: () => Date },
      steps: Steps<Name, M, Locked, Reads> = {},
    ): NounHandlers<Name, Plural, Names, V> {
      const { writeAtOnce, create, ...records } = createWriter(target, clock, steps);
      const byVerb: Record<Verb, unknown> = {
        ...records,
        create: Object.assign(create, {
          singleStatement: writeAtOnce,
          keeps_upload: steps.keepsUpload,
        }),
        update: Object.assign(records.update, { singleStatement: writeAtOnce }),
        list: ({ query, db }: { query: ListQuery; db: Db }) => read(query, { db, now: clock() }),
      };
      const declared = new Set<string>(contract.operations.map(({ id }) => id));
      return Object.fromEntries(
        answered.flatMap((verb) =>
          declared.has(verbs[verb]) ? [[verbs[verb], byVerb[verb]]] : [],
        ),
      ) as NounHandlers<Name, Plural, Names, V>;
    },
  };
}

/** The values that a create sets for fields that the request leaves out. */
const loadDefaults = (schema: string): object =>
  `${schema}Fields` in contract.document.components.schemas
    ? readDefaults(`${schema}Fields` as SchemaName)
    : {};

/** Fields of requests that are stored as they are, in columns of their name. */
function listColumns(
  { schema, plural }: Projection,
  references: readonly string[],
): ReadonlySet<string> {
  const { schemas } = contract.document.components;
  const listFields = (name: string) =>
    schemas[name] ? Object.keys(facets(schemas[name]).properties) : [];
  // An imported identity is written apart (src/api/records/kept-identity.ts).
  const excluded = new Set<string>([...references, ...listFields('KeptIdentity')]);
  const stored = new Set(readTable(plural).columns.map(({ name }) => name));
  return new Set(
    ['Create', 'Update', 'Fields']
      .flatMap((kind) => listFields(schema + kind))
      .filter((name) => stored.has(name) && !excluded.has(name)),
  );
}

const listProperties = (schema: string): Record<string, Schema> =>
  contract.document.components.schemas[schema]!.properties!;

function buildProjection(declaration: AnyDeclaration): Projection {
  const { schema, singular, plural, path = plural, parts = {}, computed, search } = declaration;
  const { root, joins, sentColumns, limited, appendOnly, hasCachedCounts } = declaration;
  const properties = listProperties(schema);
  const columnSql: Record<string, Column> = {
    ...commonColumns(path),
    type: `'${String(properties.type?.['x-const'])}'`,
    ...Object.fromEntries(
      Object.entries<Part>(parts).map(([name, { pairs, column }]) => [
        name,
        selectIds(pairs, `${singular}_id`, column),
      ]),
    ),
    ...computed,
  };
  const projection = {
    ...{ schema, singular, plural, root, joins, sentColumns, limited, appendOnly, hasCachedCounts },
    ...buildSearch(search, properties),
    columns: Object.fromEntries(
      Object.keys(properties).map((name) => [name, columnSql[name] ?? true]),
    ),
  };
  return Object.fromEntries(
    Object.entries(projection).filter(([, value]) => value !== undefined),
  ) as unknown as Projection;
}

/** SQL of the ids that a table of pairs attaches to the record. */
export const selectIds = (pairs: string, owner: string, column: string): string => `ARRAY(
  SELECT m.${column} FROM ${pairs} m
  WHERE m.company_id = t.company_id AND m.${owner} = t.id
  ORDER BY 1
)`;

function buildSearch(
  search: AnyDeclaration['search'],
  properties: Record<string, Schema>,
): Pick<Projection, 'fulltext' | 'limitedFulltext'> {
  if (typeof search !== 'object') return search === undefined ? {} : { fulltext: search };
  const shown = search.filter((name) => properties[name]?.['x-money'] !== 'company');
  return {
    fulltext: buildFulltext(search),
    ...(shown.length < search.length && { limitedFulltext: buildFulltext(shown) }),
  };
}

const buildFulltext = (columns: readonly string[]): string =>
  `lower(${columns.map((name) => `coalesce(t.${name}, '')`).join(` || E'\\n' || `)})`;

const readListParameters = (operationId: string) =>
  contract.operations.find(({ id }) => id === operationId)?.parameters ?? [];

/** The sort keys of the contract's `order`. */
function buildOrders(
  operationId: string,
  { schema, plural, columns }: Projection,
  declared: Record<string, SortKey> = {},
): Record<string, SortKey> {
  const parameter = readListParameters(operationId).find(({ name }) => name === 'order');
  const names = parameter ? (contract.resolve(parameter.schema).enum ?? []).map(String) : [];
  const properties = listProperties(schema);
  const stored = new Map(readTable(plural).columns.map((column) => [column.name, column]));
  const findKey = (name: string): SortKey => {
    const column = (columns as Record<string, Column>)[name];
    const storedColumn = stored.get(name);
    if (declared[name]) return declared[name];
    if (column === true && storedColumn) return storedKey(storedColumn);
    if (typeof column === 'string') return computedKey(column, properties[name]!);
    throw new Error(`${operationId} is ordered by ${name}, which has no sort key`);
  };
  return Object.fromEntries(
    names.filter((name) => name !== 'id').map((name) => [name, findKey(name)]),
  );
}

const TYPES: Record<string, SortKey['type']> = {
  String: 'text',
  Int: 'bigint',
  BigInt: 'bigint',
  Float: 'double precision',
  Decimal: 'numeric',
  Boolean: 'boolean',
  DateTime: 'timestamptz',
};

/** The sort key of a column, with the type that the database has. */
const storedKey = ({ name, type, is_optional }: StoredColumn): SortKey => ({
  sql: `t.${name}`,
  type: TYPES[type]!,
  ...(is_optional && { nullable: true }),
});

/** The sort key of a computed column, with the type that the contract has. */
function computedKey(sql: string, property: Schema): SortKey {
  const { types, formats } = facets(property);
  const nullable = types.has('null') && { nullable: true };
  const type = (): SortKey['type'] => {
    if (formats.has('date-time')) return 'timestamptz';
    if (types.has('boolean')) return 'boolean';
    if (types.has('number')) throw new Error(`the sort key of ${sql} must be declared`);
    return types.has('integer') ? 'bigint' : 'text';
  };
  return { sql: `(${sql})`, type: type(), ...nullable };
}

/** Conditions of the filters that name a record: the request pipeline has resolved their values. */
function buildFilters(operationId: string, { columns }: Projection): Filters {
  return Object.fromEntries(
    readListParameters(operationId).flatMap(({ name, schema }) =>
      contract.resolve(schema)['x-reference'] !== undefined && Object.hasOwn(columns, name)
        ? [[name, `t.${name} = {${name}}::bigint`]]
        : [],
    ),
  );
}

const COMMON_PARAMETERS = new Set(
  ['ids', 'page', 'per_page', 'cursor', 'created_at_from', 'created_at_to', 'fulltext', 'root'] //
    .concat(['time_zone', 'columns', 'order', 'order_dir', 'format', 'serializer', 'stale_ok']),
);

/** A filter that nothing applies would answer with all records. */
function requireFilters(operationId: string, names: readonly string[]): void {
  const missing = readListParameters(operationId).find(
    ({ in: part, name }) =>
      part === 'query' && !COMMON_PARAMETERS.has(name) && !names.includes(name),
  );
  if (missing) throw new Error(`nothing applies the filter ${missing.name} of ${operationId}`);
}
