import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { PRISMA_FOLDER } from '../../src/data/postgres/migrate';
import { freshDatabase } from '../support/world';

// A distributed PostgreSQL has no triggers. What a write causes is written by the statement that
// causes it, or at the end of its transaction (src/data/before-commit.ts).

const TRIGGER =
  /\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+|EVENT\s+)?TRIGGER\s+\w+([^;]*?);/gi;

/** The tables for which SQL makes triggers. */
const findTriggerTables = (sql: string): string[] =>
  [...sql.replace(/--.*/g, '').matchAll(TRIGGER)].map(
    ([, rest]) => /\bON\s+(?:\w+\.)?"?(\w+)/i.exec(rest!)?.[1] ?? 'all',
  );

test('no table of a migrated database has a trigger', async () => {
  const client = new Client({ connectionString: await freshDatabase() });
  await client.connect();
  const { rows } = await client
    .query<{ name: string }>(
      `SELECT tgrelid::regclass::text AS name
      FROM pg_trigger
      WHERE NOT tgisinternal
      UNION ALL
      SELECT 'all' FROM pg_event_trigger`,
    )
    .finally(() => client.end());
  expect(rows).toEqual([]);
});

const FILES = readdirSync(PRISMA_FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.sql'),
);

test.each(FILES)('%s makes none', (file) => {
  expect(findTriggerTables(readFileSync(join(PRISMA_FOLDER, file), 'utf8'))).toEqual([]);
});

test('a trigger in a file is found, however it is written', () => {
  const sql = `
    CREATE TRIGGER a AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();
    create or replace trigger b before update of x on "teams"
      for each row execute function f();
    CREATE CONSTRAINT TRIGGER c
      AFTER DELETE ON public.offers DEFERRABLE FOR EACH ROW EXECUTE FUNCTION f();
    CREATE EVENT TRIGGER d ON ddl_command_end EXECUTE FUNCTION f();
    -- CREATE TRIGGER e AFTER INSERT ON pings FOR EACH ROW EXECUTE FUNCTION f();`;
  expect(findTriggerTables(sql)).toEqual(['users', 'teams', 'offers', 'ddl_command_end']);
});
