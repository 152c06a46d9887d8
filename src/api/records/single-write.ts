import type { Db } from '../../data/db';
import type { Caller } from '../auth/caller';

/** The whole write of a request. */
export interface SingleWrite {
  /** Columns of the record's own row, as the driver takes them: JSON as text. */
  row: Record<string, unknown>;
  /** Columns as SQL over the old row t, with `{row_name}` for `name` of `row`. */
  computed?: Readonly<Record<string, string>>;
  parts?: readonly WritePart[];
}

/** A row of another table; see Part in src/data/projection/write.ts. */
interface WritePart {
  alias: string;
  table: string;
  owner: string;
  row: Record<string, unknown>;
  computed?: Readonly<Record<string, string>>;
}

/** A write that may be one statement. */
export interface StatementRequest {
  db: Db;
  caller: Caller;
  now: Date;
  isNew: boolean;
  /** The fields as they were sent, and with defaults. */
  requested: object;
  fields: object;
  /** Those of the fields that are columns of their name. */
  columns: Record<string, unknown>;
}
