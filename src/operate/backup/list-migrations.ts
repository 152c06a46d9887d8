import type { Sql } from '../../data/sql';
import { LIST_MIGRATIONS } from './queries/snapshot';

/** Applied migrations, oldest first. */
export const listMigrations = async (sql: Sql): Promise<string[]> =>
  (await sql(LIST_MIGRATIONS, {})).map(({ name }) => name);
