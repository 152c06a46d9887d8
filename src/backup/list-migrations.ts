import type { Sql } from '../db/sql';
import { LIST_MIGRATIONS } from './queries/snapshot';

/** Names of the migrations that were applied to a database, oldest first. */
export const listMigrations = async (sql: Sql): Promise<string[]> =>
  (await sql(LIST_MIGRATIONS, {})).map(({ name }) => name);
