import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDemo } from '../../../src/main/demo/demo';
import { removeDemo } from '../../../src/operate/installation/remove-demo';
import { createRecord } from '../../support/records';
import { useWorld } from '../../support/use-world';
import { caller } from '../../support/world';

const world = useWorld({ fresh: 'world' });

/** A demo company in use: with a call, a lead, events, a file that waits for its import. */
async function createUsedDemo(name: string): Promise<number> {
  const { company_id, credentials } = await createDemo(world.deps, name);
  const api = caller(world.app, `${credentials.public_key}:${credentials.private_key}`);
  const first = async (path: string) => {
    const { body } = await api('get', path);
    return body[body.metadata.root][0];
  };
  const offer = await first('offers');
  const schedule = await first('schedules');
  const number = await first('phone_numbers');
  const list = await first('buyer_suppressions');
  const buyer = await first('buyers');
  await createRecord(api, 'outgoing_webhooks', {
    name: 'Leads',
    url: 'https://example.com/',
    trigger_type: 'new_lead_created',
  });
  const call = { offer_id: offer.id, caller_number: '2125550123' };
  await createRecord(api, 'call_sessions', call);
  const lead = { lead_token: schedule.lead_token, caller_id: '3105550123' };
  expect((await api('post', 'leads', { auth: null, body: lead })).status).toBe(201);
  // Number and buyer refer to each other.
  await api('put', `buyers/${buyer.id}`, { body: { display_service_number_id: number.id } });
  await api('put', `phone_numbers/${number.id}`, {
    body: { forward_type: 'buyer_id', buyer_id: buyer.id },
  });
  const form = { buyer_suppression_id: String(list.id), import_file: Buffer.from('3105550177\n') };
  expect((await api('post', 'buyer_suppression_files', { form })).status).toBe(201);
  return Number(company_id);
}

/** How many rows of a company each table has. */
async function countRows(company: number): Promise<Record<string, number>> {
  const tables = await world.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND column_name = 'company_id' AND table_type = 'BASE TABLE'`,
  );
  const counts: Record<string, number> = {};
  for (const name of tables.map((table) => table.name).toSorted()) {
    const [row] = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM ${name} WHERE company_id = $1`,
      [company],
    );
    if (row!.n > 0) counts[name] = row!.n;
  }
  const [jobs] = await world.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM jobs.job WHERE data ->> 'company_id' = $1`,
    [String(company)],
  );
  return jobs!.n > 0 ? { ...counts, jobs: jobs!.n } : counts;
}

const files = () => readdirSync(join(world.deps.config.storage_dir, 'files'));
const companies = async () =>
  (await world.sql<{ name: string }>('SELECT name FROM companies ORDER BY id')).map(
    ({ name }) => name,
  );

test('a demo is removed with all that is its own, and nothing else is touched', async () => {
  const [doomed, otherDemo] = [await createUsedDemo('Doomed'), await createUsedDemo('Other')];
  const [before, mine] = [await countRows(otherDemo), await countRows(Number(world.company.id))];
  const rows = await countRows(doomed);
  for (const table of ['buyers', 'calls', 'leads', 'webhook_events', 'number_lookups', 'jobs'])
    expect(rows[table]).toBeGreaterThan(0);
  expect(files()).toHaveLength(2);
  expect(await removeDemo(world.deps, doomed)).toEqual({ id: doomed, name: 'Doomed' });
  expect(await countRows(doomed)).toEqual({});
  expect(await companies()).toEqual(['Test Company', 'Other']);
  expect(await countRows(otherDemo)).toEqual(before);
  expect(await countRows(Number(world.company.id))).toEqual(mine);
  expect(files()).toHaveLength(1);
  expect((await world.company.api('get', 'me')).status).toBe(200);
});

test('the only demo need not be named; of several one must be', async () => {
  await expect(removeDemo(world.deps, undefined)).rejects.toThrow('There is no demo company.');
  const { company_id } = await createDemo(world.deps, 'First');
  await createDemo(world.deps, 'Second');
  await expect(removeDemo(world.deps, undefined)).rejects.toThrow(
    'There are several demo companies: name one with --company ID.',
  );
  await removeDemo(world.deps, Number(company_id));
  expect(await removeDemo(world.deps, undefined)).toMatchObject({ name: 'Second' });
  expect(await companies()).toEqual(['Test Company']);
});

test('a company that is no demo is refused, whatever its name', async () => {
  const { id } = await world.addCompany('Demo Company');
  await expect(removeDemo(world.deps, Number(id))).rejects.toThrow(
    `Company ${id} is not a demo company: only those can be removed.`,
  );
  expect(await companies()).toEqual(['Test Company', 'Demo Company']);
});

test('a demo with a number that a carrier bills is refused, and the number is named', async () => {
  const { company_id } = await createDemo(world.deps, 'Demo');
  const [number] = await world.sql<{ phone_number: string }>(
    `UPDATE numbers SET carrier = 'twilio', carrier_number_id = 'PN1' RETURNING phone_number`,
  );
  const removing = removeDemo(world.deps, Number(company_id));
  await expect(removing).rejects.toThrow(`bills the company for +${number!.phone_number}: release`);
  expect((await countRows(Number(company_id))).buyers).toBe(6);
});

test('a request that arrives meanwhile leaves nothing behind', async () => {
  const doomed = await createUsedDemo('Doomed');
  const outcomes: string[] = [];
  const requests = Array.from({ length: 20 }, (_, n) =>
    world.deps.tenants
      .of(BigInt(doomed))
      .transaction((db) =>
        db.prisma.contact.create({
          data: { company_id: BigInt(doomed), caller_number: BigInt(13_105_551_000 + n) },
        }),
      )
      .then(
        () => outcomes.push('written'),
        () => outcomes.push('refused'),
      ),
  );
  await Promise.all([...requests, removeDemo(world.deps, doomed)]);
  expect(outcomes).toHaveLength(20);
  expect(await countRows(doomed)).toEqual({});
});
