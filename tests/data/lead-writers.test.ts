import { Client } from 'pg';
import { readProcedures } from '../support/procedures';
import { explainStatement, loadStatements, readSource, sourceFiles } from '../support/sources';
import { freshDatabase } from '../support/world';

// Statements that write leads record what they change of them. A statement that does not has its
// reason here. That each records the right thing is shown by the tests of the rooms.

let client: Client;
beforeAll(async () => {
  client = new Client({ connectionString: await freshDatabase() });
  await client.connect();
});
afterAll(() => client.end());

const RECORDS_NOTHING: Record<string, string> = {
  'erasure.erase_leads': 'its leads are deleted: nothing is planned, and no event may have them',
  'outreach.claim_by_priority': 'moves due_at of leads that have one: the hour stays',
  'outreach.claim_by_time': 'moves due_at of leads that have one: the hour stays',
  'privacy.delete_company_rows': 'removes a company: nothing is left to plan',
  'retention.delete_leads': 'deletes leads that have ended: nothing is planned',
  'outreach.release_leads': 'moves due_at of leads that have one: the hour stays',
  'numbers.remove_number_from_leads': 'takes a number away, and its transaction writes no more',
};

const writers = (table: string) =>
  [...loadStatements().values()].filter(({ text }) =>
    new RegExp(`(INSERT INTO|UPDATE|DELETE FROM|MERGE INTO)\\s+${table}\\b`).test(text),
  );
const leadWriters = () => [
  ...writers('leads'),
  ...[...loadStatements().values()].filter(({ text }) => /\b(store|submit)_leads\(/.test(text)),
];

/** The procedures that write leads. */
const procedures = readProcedures().filter(({ text }) =>
  /\b(INSERT INTO|UPDATE|DELETE FROM) leads\b|(\bPERFORM|:=) (insert|update)_leads\(/.test(text),
);

const explainPlan = async (text: string): Promise<string> =>
  (await explainStatement<string>(client, text, 'VERBOSE')).join('\n');

const RECORDED = /\b(record_lead_change|record_moved_lead|store_leads|submit_leads)\(/;

test('every statement that writes leads records it, or has a reason not to', async () => {
  const names = leadWriters().map(({ name }) => name as string);
  expect(names.length).toBeGreaterThan(12);
  expect(names).toEqual(expect.arrayContaining(Object.keys(RECORDS_NOTHING)));
  const silent: string[] = [];
  for (const { name, text } of leadWriters())
    if (!RECORDED.test(await explainPlan(text))) silent.push(name);
  expect(silent.sort()).toEqual(Object.keys(RECORDS_NOTHING).sort());
});

test('every procedure that writes leads records it, or gives the row to who does', () => {
  const silent = procedures.filter(({ text }) => !RECORDED.test(text)).map(({ name }) => name);
  expect(silent).toEqual(['leads/write_leads.sql', 'schedules/leave_schedule.sql']);
});

test('whole rows are written by what records them', () => {
  const find = (call: RegExp) =>
    procedures.filter(({ text }) => call.test(text)).map(({ name }) => name);
  expect(find(/:= insert_leads\(/)).toEqual(['leads/submit_leads.sql']);
  expect(find(/PERFORM update_leads\(/)).toEqual(['leads/store_leads.sql']);
  expect(sourceOf('leads/submit_leads.sql')).toMatch('PERFORM record_new_lead(');
});

test('a record that nothing reads is not in the plan', async () => {
  const text = `
    WITH changed AS (UPDATE leads l SET step = 1 RETURNING l AS is_now),
    recorded AS MATERIALIZED (SELECT record_lead_change(is_now, is_now) FROM changed)
    SELECT count(*) FROM changed`;
  expect(await explainPlan(text)).not.toMatch(RECORDED);
});

const sourceOf = (file: string) => readProcedures().find(({ name }) => name === file)!.text;

/** Statements and procedures that write a column of leads without store_leads(). */
const listColumnWriters = (column: RegExp) =>
  [...writers('leads'), ...procedures].filter(({ text }) => {
    const [, ...parts] = text.split(/(?:UPDATE leads l|INSERT INTO leads)\b/);
    return parts.some((part) => column.test(part.split(/\bRETURNING\b/)[0]!));
  });

/** Reasons that end a schedule, each with the column that is written with it. */
const EXITS: [reason: string, writes: RegExp][] = [
  ['replied', /\breplied_at = /],
  ['converted', /\bbuyer_converted = lead_now\.buyer_converted/],
];

test.each(EXITS)('what may be the reason "%s" takes the lead out of its schedule', (...exit) => {
  const [reason, column] = exit;
  const exitWriters = listColumnWriters(column);
  expect(exitWriters.length).toBeGreaterThan(0);
  for (const { name, text } of exitWriters)
    expect([name, text]).toEqual([
      name,
      expect.stringMatching(new RegExp(`leave_schedule\\([^]*'${reason}'`)),
    ]);
});

/** Reasons that store_leads() reads from the change. */
const STORED_EXITS: [reason: string, writes: RegExp][] = [
  ['connected', /\bconnected_call_id = (?!expect)/],
  ['inbound_call', /\bcalled_at = /],
  ['opted_out', /\bSET\s+status = (\{|\$\d)/],
];

test.each(STORED_EXITS)('what may be the reason "%s" is written by store_leads()', (...exit) => {
  const [reason, column] = exit;
  expect(sourceOf('leads/store_leads.sql')).toMatch(`leave_schedule(is_now, '${reason}')`);
  expect(listColumnWriters(column).map(({ name }) => name as string)).toEqual([]);
});

test('whoever opts numbers out records it after their leads were stopped', () => {
  const names = [...writers('contacts'), ...writers('contact_restrictions')]
    .filter(({ text }) => /opt_out = (true|x\.opt_out OR)/.test(text))
    .map(({ name }) => name as string);
  expect(names.sort()).toEqual([
    // It is not recorded what happened at another service.
    'migration.move_restrictions_of_offers',
    'migration.move_restrictions_of_schedules',
  ]);
  const optingOut = readProcedures().filter(({ text }) =>
    /(INSERT INTO|UPDATE) contact(s|_restrictions)\b[^;]*\bopt_out\b/.test(text),
  );
  expect(optingOut.map(({ name }) => name)).toEqual([
    'leads/change_contacts.sql',
    'leads/restrict_contact.sql',
  ]);
  for (const { text } of optingOut) expect(text).toMatch(/store_leads\([^]*record_opt_out_of\(/);
});

test('Prisma writes none of these tables', () => {
  const writing = sourceFiles.filter((file) =>
    /prisma\.(lead|contact|contactRestriction)\.(create|update|upsert|delete)/.test(
      readSource(file),
    ),
  );
  expect(writing).toEqual([]);
});

test('these tables have no triggers of their own', async () => {
  const { rows } = await client.query(
    `SELECT tgrelid::regclass AS table, tgname FROM pg_trigger
    WHERE NOT tgisinternal
      AND tgrelid IN ('leads'::regclass, 'contacts'::regclass, 'contact_restrictions'::regclass)`,
  );
  expect(rows).toEqual([]);
});
