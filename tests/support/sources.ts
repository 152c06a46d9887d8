import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { statements } from '../../src/data/sql';

const SRC = join(__dirname, '../../src');
const load: (file: string) => unknown = require;

/** The files of the source that are written by hand, with their paths below src/. */
export const sourceFiles: readonly string[] = readdirSync(SRC, {
  recursive: true,
  encoding: 'utf8',
})
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
  .sort();

export const readSource = (file: string): string => readFileSync(join(SRC, file), 'utf8');

/** All registered statements, by name. */
export function loadStatements(): typeof statements {
  for (const file of sourceFiles) if (/\/queries\/[\w-]+\.ts$/.test(file)) load(join(SRC, file));
  return statements;
}

/**
 * The plan of a statement for any values, as lines or as one JSON value. Parts that nothing reads
 * are not in it.
 */
export async function explainStatement<Line>(
  client: Client,
  text: string,
  options: 'VERBOSE' | 'FORMAT JSON',
): Promise<Line[]> {
  // For NULL instead of values, a plan would be empty.
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE planned AS ${text}`);
  try {
    const { rows: prepared } = await client.query<{ n: number }>(
      `SELECT cardinality(parameter_types) AS n FROM pg_prepared_statements
      WHERE name = 'planned'`,
    );
    const values = Array.from({ length: prepared[0]!.n }, () => 'NULL').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': Line }>(
      `EXPLAIN (${options}) EXECUTE planned${values && `(${values})`}`,
    );
    return rows.map((row) => row['QUERY PLAN']);
  } finally {
    await client.query('DEALLOCATE planned');
  }
}
