import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'papaparse';
import { exportCompany } from '../../../src/operate/backup/export-company';
import { createFixture } from '../../support/example';
import { useWorld } from '../../support/use-world';

// An export has all records of one company and nothing of another, readable without Trunkline.

const world = useWorld();
let file: string;
beforeAll(async () => {
  await createFixture(world);
  const otherCompany = await world.addCompany('Other');
  await otherCompany.api('post', 'buyers', { body: { name: 'Not mine' } });
  file = join(mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'export-')), 'company.tar.gz');
});

const read = (name: string) => execFileSync('tar', ['-xzOf', file, name]).toString();

test('each table of the company is a CSV file with all of its rows', async () => {
  const { rows, company_id } = await exportCompany(world.deps, world.company.id, file);
  expect(company_id).toBe(Number(world.company.id));
  expect(Object.keys(rows)).toEqual(
    expect.arrayContaining(['buyers', 'companies', 'leads', 'calls']),
  );
  const entries = execFileSync('tar', ['-tzf', file]).toString().trim().split('\n');
  for (const [table, count] of Object.entries(rows)) {
    expect(entries).toContain(`tables/${table}.csv`);
    const { data } = parse<Record<string, string>>(read(`tables/${table}.csv`), {
      header: true,
      skipEmptyLines: true,
    });
    expect([table, data.length]).toEqual([table, count]);
  }
  expect(read('tables/buyers.csv')).not.toContain('Not mine');
  expect(JSON.parse(read('export.json')).rows).toEqual(rows);
});

test('no digest or secret leaves with it', () => {
  expect(read('tables/access_tokens.csv')).toContain('public_key');
  for (const table of ['access_tokens', 'outgoing_webhooks'])
    expect(read(`tables/${table}.csv`).split('\n')[0]).not.toMatch(/secret|digest/);
});

test('a company that does not exist, and a file that does', async () => {
  await expect(exportCompany(world.deps, 999_999n, `${file}.2`)).rejects.toThrow(
    'There is no company 999999.',
  );
  await expect(exportCompany(world.deps, world.company.id, file)).rejects.toThrow('already');
});
