import { contract, type Schema, type Schemas } from '../contract';
import type { Side } from '../contract-document';
import type { Table } from './references';

/** SQL of one column over the row t: an expression, or true for the table's column of that name. */
export type Column = string | true;

/**
 * How a resource is read: its table as t, and for every column of its contract schema the SQL that
 * gives it. The same projection serves show, list, CSV and the record in the answer to a write.
 * Expressions may use the parameters `{company_id}`, `{now}` and `{zone}`.
 */
export interface Projection<
  Name extends keyof Schemas = keyof Schemas,
  Singular extends string = string,
  Plural extends Table = Table,
> {
  schema: Name;
  singular: Singular;
  /** The name of the table, which is also the root key of a list. */
  plural: Plural;
  /** The root key of a list where the table has another name. */
  root?: string;
  columns: { [C in keyof Required<Schemas[Name]>]: Column };
  /** Joins by alias, in their order; only those that a selected column uses are made. */
  joins?: Record<string, string>;
  /**
   * SQL of columns with personal data or money over the row `sent`: what the very request has sent
   * of them. A lead token alone reads this; null for the others.
   */
  sent?: Record<string, string>;
  /** SQL of columns as limited callers read them, where a part of the value is hidden from them. */
  limited?: Record<string, string>;
  /** The text that `fulltext` searches, spelled as in its index. */
  fulltext?: string;
  /**
   * Set for records that are never deleted. They are written so often that their number is only
   * maintained in record_counts where this is `counted`.
   */
  everlasting?: true | 'counted';
  /**
   * Set where it is recorded what later writes of a row change that a filter can see, so that
   * counts of most rows can be remembered (db/settled-counts.ts). All filters are about the row
   * alone.
   */
  settles?: true;
}

/** A column of a resource, as the contract declares it. */
export interface Field {
  name: string;
  schema: Schema;
  grid: boolean;
  external: boolean;
  sensitive: boolean;
  side: Side | undefined;
}

/** What is read of a resource. */
export interface Selection {
  /** Only these columns; all when absent. */
  columns?: readonly string[] | undefined;
  /** Whether the columns of the `_grid` serializer are included. */
  grid?: boolean;
  /** Whether only the columns of the `_external` serializer are read: those outsiders may see. */
  external?: boolean;
  /** Whether columns that refer to records outside the caller's access scope are masked. */
  limited?: boolean;
  /** Whether the reader has nothing but a lead token. Needs the row `sent` (Projection.sent). */
  by_token?: boolean;
  /** IANA zone of the times, UTC when absent. Its value is the parameter `zone`. */
  zone?: string | undefined;
}

const fields_by_schema = new Map<string, Field[]>();

/** The columns of a resource in the contract's order. */
export function fieldsOf(projection: Projection): Field[] {
  const cached = fields_by_schema.get(projection.schema);
  if (cached) return cached;
  const { properties = {} } = contract.document.components.schemas[projection.schema]!;
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    grid: schema['x-grid'] === true,
    external: schema['x-external'] === true,
    sensitive: schema['x-sensitive'] !== undefined,
    side: schema['x-side'],
  }));
  fields_by_schema.set(projection.schema, fields);
  return fields;
}

const still_by_schema = new Map<string, string[]>();

/**
 * The columns that change only when somebody writes the record, without those of the `_grid`
 * serializer: what the change log compares.
 */
export function stillColumns(projection: Projection): string[] {
  let still = still_by_schema.get(projection.schema);
  if (!still) {
    still = fieldsOf(projection).flatMap(({ name, schema, grid }) =>
      grid || schema['x-moving'] ? [] : name,
    );
    still_by_schema.set(projection.schema, still);
  }
  return still;
}

/** The names among `columns` that the resource does not have. */
export function unknownColumns(projection: Projection, columns?: readonly string[]): string[] {
  if (!columns) return [];
  const { columns: known } = projection;
  return [...new Set(columns)].filter((name) => !Object.hasOwn(known, name));
}

/** The expressions that all records have in common. */
export function commonColumns(path: string) {
  const route = `'/api/v1/${path}/' || t.id`;
  return {
    id: true,
    legacy_id: 't.id',
    uuid: true,
    created_at: true,
    updated_at: true,
    deleted_at: true,
    user_updated_at: true,
    routes_show_path: route,
    routes_edit_path: route,
    external_record_id: true,
    company_id: true,
  } as const satisfies Record<string, Column>;
}
