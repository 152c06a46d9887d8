import { Client } from 'pg';
import {
  compareCatalogs,
  compareChecks,
  futureMigrations,
  readCatalog,
  selectSchemaItems,
  type Item,
} from '../../scripts/catalog';
import { freshDatabase } from '../support/world';

// `npm run check` compares the catalog of a migrated database with the declared one.
// scripts/check-drift.ts shows that they are equal; these tests, that it reports every difference.

let client: Client;
let declared: Item[];

beforeAll(async () => {
  client = new Client({ connectionString: await freshDatabase() });
  await client.connect();
  declared = await readCatalog(client);
});
afterAll(() => client.end());

/** The differences after a change of the migrated database, which is then rolled back. */
async function findDifferences(change: string): Promise<string[]> {
  await client.query('BEGIN');
  try {
    await client.query(change);
    return compareCatalogs({ migrated: await readCatalog(client), declared });
  } finally {
    await client.query('ROLLBACK');
  }
}

test('a database does not differ from itself, and has items of every kind', async () => {
  expect(compareCatalogs({ migrated: await readCatalog(client), declared })).toEqual([]);
  const kinds = [...new Set(declared.map(({ kind }) => kind))].sort();
  expect(kinds).toEqual(
    [
      'CHECK',
      'column',
      'constraint',
      'extension',
      'function',
      'index',
      'sequence',
      'statistics',
      'table',
    ].sort(),
  );
});

const UNDECLARED = 'is made by a migration, but not declared in';
const MISSING = 'but no migration makes it';

test.each<[string, string, RegExp]>([
  [
    'an extra trigger',
    `CREATE TRIGGER stray BEFORE DELETE ON emails
      FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    new RegExp(`^trigger emails\\.stray ${UNDECLARED} prisma/sql/$`),
  ],
  [
    'a missing function',
    'DROP FUNCTION record_deleted_call(calls)',
    new RegExp(
      `^function record_deleted_call\\(was calls\\) is declared in prisma/sql/, ${MISSING}$`,
    ),
  ],
  [
    'a changed function',
    `CREATE OR REPLACE FUNCTION is_open(open_minutes integer[], minute_of_week integer)
      RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT true'`,
    /^function is_open\(open_minutes integer\[\], minute_of_week integer\) differs: .*SELECT true/,
  ],
  [
    'a function with another property',
    'ALTER FUNCTION iso_local(timestamptz, text) VOLATILE',
    /^function iso_local\(.*\) differs: /,
  ],
  [
    'an extra function',
    `CREATE FUNCTION stray() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
    new RegExp(`^function stray\\(\\) ${UNDECLARED} prisma/sql/$`),
  ],
  [
    'an extra CHECK',
    'ALTER TABLE calls ADD CONSTRAINT calls_round_check CHECK (round >= 0)',
    new RegExp(`^CHECK calls\\.calls_round_check ${UNDECLARED} prisma/migrations/$`),
  ],
  [
    'a missing CHECK',
    'ALTER TABLE leads DROP CONSTRAINT leads_due_check',
    new RegExp(`^CHECK leads\\.leads_due_check is declared in prisma/migrations/, ${MISSING}$`),
  ],
  [
    'a missing index of a text search',
    'DROP INDEX buyers_fulltext_idx',
    new RegExp(
      `^index buyers\\.buyers_fulltext_idx is declared in prisma/migrations/, ${MISSING}$`,
    ),
  ],
  [
    'a missing index of schema.prisma',
    'DROP INDEX calls_company_id_status_id_idx',
    new RegExp(
      `^index calls\\.calls_company_id_status_id_idx is declared in prisma/schema\\.prisma, ` +
        `${MISSING}$`,
    ),
  ],
  [
    'an extra index',
    'CREATE INDEX stray_idx ON emails (company_id, lower(subject))',
    new RegExp(`^index emails\\.stray_idx ${UNDECLARED} prisma/schema\\.prisma$`),
  ],
  [
    'a partial index with another condition',
    `DROP INDEX calls_no_buyer_idx;
    CREATE INDEX calls_no_buyer_idx ON calls (company_id, id) WHERE buyer_id IS NULL`,
    /^index calls\.calls_no_buyer_idx differs: /,
  ],
  [
    'a foreign key with another action',
    `ALTER TABLE emails DROP CONSTRAINT emails_company_id_fkey,
      ADD CONSTRAINT emails_company_id_fkey
      FOREIGN KEY (company_id) REFERENCES companies (id) ON DELETE CASCADE`,
    /^constraint emails\.emails_company_id_fkey differs: .*CASCADE/,
  ],
  [
    'a column with another default',
    `ALTER TABLE calls ALTER COLUMN token_values SET DEFAULT '[]'`,
    /^column calls\.token_values differs: /,
  ],
  [
    'an extra table',
    'CREATE TABLE stray ()',
    new RegExp(`^table stray ${UNDECLARED} prisma/schema\\.prisma$`),
  ],
  [
    'other storage',
    'ALTER TABLE leads RESET (fillfactor)',
    /^table leads differs: .*fillfactor=80/,
  ],
  [
    'a logged table',
    'ALTER TABLE rate_limits SET LOGGED',
    /^table rate_limits differs: .*unlogged/,
  ],
  [
    'a missing sequence',
    'DROP SEQUENCE token_value_ids',
    new RegExp(`^sequence token_value_ids is declared in prisma/migrations/, ${MISSING}$`),
  ],
])('%s is one line that names it', async (_name, change, line) => {
  expect(await findDifferences(change)).toEqual([expect.stringMatching(line)]);
});

test('CHECKs are those that the migrations declare, by name', async () => {
  const [{ name }] = declared.filter(({ kind }) => kind === 'CHECK') as [Item];
  const check = name.split('.')[1]!;
  const otherItems = declared.filter((item) => item.kind !== 'CHECK');
  const buildChecks = (constraint: string): Item[] => [
    { kind: 'CHECK', name: `t.${constraint}`, definition: '' },
  ];
  const added = `ALTER TABLE t ADD CONSTRAINT ${check} CHECK (true);`;
  expect(compareChecks(buildChecks(check), [added])).toEqual([]);
  expect(compareChecks(otherItems, [added])).toEqual([`CHECK ${check} is lost`]);
  expect(compareChecks(otherItems, [added, `ALTER TABLE t DROP CONSTRAINT ${check};`])).toEqual([]);
  expect(compareChecks(buildChecks('stray'), [`-- CONSTRAINT stray CHECK (true)`])).toEqual([
    'CHECK stray is in no migration',
  ]);
});

test('what schema.prisma cannot say is left out of the comparison with it', () => {
  const items: Item[] = [
    { kind: 'CHECK', name: 'leads.x', definition: 'CHECK (true)' },
    { kind: 'index', name: 'a', definition: 'CREATE INDEX a ON t USING gin (x)' },
    { kind: 'index', name: 'b', definition: 'CREATE INDEX b ON t USING btree (x)' },
    { kind: 'table', name: 'leads', definition: 'table unlogged with (fillfactor=80)' },
  ];
  expect(selectSchemaItems(items)).toEqual([items[2], { ...items[3], definition: 'table' }]);
});

test('a migration that is dated in the future is named', () => {
  const names = ['20261125000000_init', '20261126120000_later'];
  expect(futureMigrations(names, new Date('2026-11-26T12:00:00Z'))).toEqual([]);
  expect(futureMigrations(names, new Date('2026-11-26T11:59:59Z'))).toEqual([
    'prisma/migrations/20261126120000_later is dated in the future: now is 20261126115959',
  ]);
});
