import { contract, type Schema, type Schemas } from '../../platform/contract/contract';
import type { MoneyVisibility } from '../../platform/contract/contract-document';
import type { Table } from '../references';

/** SQL of one column over the row t; true for the table's column of that name. */
export type Column = string | true;

/**
 * How a resource is read: its table as t, and the SQL of every column of its contract schema. One
 * projection serves show, list, CSV and the record in the answer to a write. Expressions may use
 * the parameters `{company_id}`, `{now}` and `{zone}`.
 */
export interface Projection<
  Name extends keyof Schemas = keyof Schemas,
  Singular extends string = string,
  Plural extends Table = Table,
> {
  schema: Name;
  singular: Singular;
  /** Name of the table, and root key of a list. */
  plural: Plural;
  /** Root key of a list, if it differs from the table. */
  root?: string;
  columns: { [C in keyof Required<Schemas[Name]>]: Column };
  /** Joins by alias, in their order; only those of selected columns are made. */
  joins?: Record<string, string>;
  /**
   * SQL of columns with personal data or money over the row `sent`, which has the values that this
   * request sent. It replaces the column for a lead token, which reads null without it.
   */
  sentColumns?: Record<string, string>;
  /** SQL of columns for limited callers, from whom a part of the value is hidden. */
  limited?: Record<string, string>;
  /** The text that `fulltext` searches, spelled like in its index. */
  fulltext?: string;
  /** For limited callers, the text without columns that are hidden from all of them. */
  limitedFulltext?: string;
  /**
   * Set for records that are never deleted. They are written so often that record_counts counts
   * them only where this is `counted`.
   */
  appendOnly?: true | 'counted';
  /**
   * Set if later writes of a row record the changes that a filter can see, so that counts of most
   * rows can be cached (src/data/counts/settled-counts.ts). All filters must concern the row alone.
   */
  hasCachedCounts?: true;
}

export interface Field {
  name: string;
  schema: Schema;
  grid: boolean;
  /** It costs so much that it is read only where `columns` names it. */
  on_request: boolean;
  external: boolean;
  sensitive: boolean;
  moneyVisibility: MoneyVisibility | undefined;
}

/** The columns to read, and for which reader. */
export interface Selection {
  /** Only these columns; all when absent. */
  columns?: readonly string[] | undefined;
  /** Includes the columns of the `_grid` serializer. */
  grid?: boolean;
  /** Only the columns of the `_external` serializer, which outsiders may see. */
  external?: boolean;
  /** Masks columns that refer to records outside the caller's access scope. */
  limited?: boolean;
  /** The reader has only a lead token. Needs the row `sent` (see Projection.sentColumns). */
  by_token?: boolean;
  /** IANA zone of the times, UTC when absent. Its value is the parameter `zone`. */
  zone?: string | undefined;
}

const fieldsBySchema = new Map<string, Field[]>();

/** The columns of a resource in the order of the contract. */
export function listFields(projection: Projection): Field[] {
  const cached = fieldsBySchema.get(projection.schema);
  if (cached) return cached;
  const { properties = {} } = contract.document.components.schemas[projection.schema]!;
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    grid: schema['x-grid'] === true,
    on_request: schema['x-on-request'] === true,
    external: schema['x-external'] === true,
    sensitive: schema['x-sensitive'] !== undefined,
    moneyVisibility: schema['x-money'],
  }));
  fieldsBySchema.set(projection.schema, fields);
  return fields;
}

const stillBySchema = new Map<string, string[]>();

/**
 * The columns that change only when the record is written, without those of the `_grid` serializer.
 * The change log compares these.
 */
export function auditedColumns(projection: Projection): string[] {
  let still = stillBySchema.get(projection.schema);
  if (!still) {
    still = listFields(projection).flatMap(({ name, schema, grid }) =>
      grid || schema['x-volatile'] ? [] : name,
    );
    stillBySchema.set(projection.schema, still);
  }
  return still;
}

export function unknownColumns(projection: Projection, columns?: readonly string[]): string[] {
  if (!columns) return [];
  const { columns: declaredColumns } = projection;
  return [...new Set(columns)].filter((name) => !Object.hasOwn(declaredColumns, name));
}

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
