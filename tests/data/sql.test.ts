import { Client } from 'pg';
import { describeAll } from '../../scripts/sql-types';
import { sql, Statement, statement, type StatementName } from '../../src/data/sql';
import { freshDatabase } from '../support/world';

const buildStatement = (text: ReturnType<typeof sql>, options: { nullable?: string[] } = {}) =>
  new Statement('tests.made' as StatementName, text, { prepared: false, ...options });

let client: Client;
beforeAll(async () => {
  client = new Client({ connectionString: await freshDatabase() });
  await client.connect();
});
afterAll(() => client.end());

test('a parameter gets one number, however often it is used, and other SQL may be put in', () => {
  const columns = sql`id, name`;
  const bound = buildStatement(
    sql`SELECT ${columns} FROM buyers WHERE company_id = {company_id} AND id <> {id} OR {id} = 0`,
  ).bind({ id: '7', company_id: 1n });
  expect(bound).toEqual({
    text: 'SELECT id, name FROM buyers WHERE company_id = $1 AND id <> $2 OR $2 = 0',
    values: [1n, '7'],
  });
});

test('a backslash reaches the database as it is written', async () => {
  const select = buildStatement(sql`SELECT regexp_replace('+1 (310)', '\D', '', 'g') AS digits`);
  const { rows } = await client.query(select.bind({}));
  expect(rows).toEqual([{ digits: '1310' }]);
});

test('a parameter that is missing is named', () => {
  const select = buildStatement(sql`SELECT {id}::int AS id`);
  expect(() => select.bind({})).toThrow('tests.made lacks the parameter id');
  expect(select.bind({ id: null }).values).toEqual([null]);
});

test('two statements cannot have one name', () => {
  const name = 'tests.twice' as StatementName;
  statement(name, sql`SELECT 1`, { prepared: false });
  expect(() => statement(name, sql`SELECT 2`, { prepared: false })).toThrow('tests.twice');
});

test('PostgreSQL gives the types of parameters and rows', async () => {
  const select = buildStatement(
    sql`
      SELECT b.id, b.name, b.paused, b.created_at, b.deleted_at, f.name AS fleet, max(b.tier) AS top
      FROM buyers b
      LEFT JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
      WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])
      GROUP BY b.company_id, b.id, f.name
    `,
    { nullable: ['top'] },
  );
  const { source, errors } = await describeAll(client, [select]);
  expect(errors).toEqual([]);
  expect(source).toContain(`    params: {
      company_id: number | string | bigint | null;
      ids: readonly (number | string | bigint)[] | string | null;
    };`);
  // Behind an outer join every column of a table may be null.
  expect(source).toContain('      created_at: Date | null;');
  expect(source).toContain('      fleet: string | null;');
  expect(source).toContain('      top: number | null;');
});

test('a column that is not there is an error that names the statement', async () => {
  const { errors } = await describeAll(client, [buildStatement(sql`SELECT shoe_size FROM buyers`)]);
  expect(errors).toEqual(['tests.made: column "shoe_size" does not exist']);
});
