import { erasePerson } from '../../../src/operate/privacy/erase-person';
import {
  KEPT_REASONS,
  KEPT_TABLE_COLUMNS,
  OWNERSHIP,
  REDACTED_TABLES,
} from '../../../src/operate/privacy/ownership';
import { standingClock } from '../../support/clock';
import { createFixture } from '../../support/example';
import { NOON } from '../../support/leads';
import { repetitions } from '../../support/repetitions';
import { createWorld, type World } from '../../support/world';

// Erasure removes a number from texts, lists and rows in any spelling, except where the receipt
// names it. Other numbers stay.

const time = standingClock(NOON);
const NUMBER = '13105550188';
const EMAIL = 'frieda.quux+1@example.com';

let world: World;
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
  await createFixture(world);
});
afterAll(() => world.close());

const erase = (number = NUMBER) =>
  erasePerson(world.deps.tenants, world.company.id, { number, now: time.read() });

/** Spellings of people, spreadsheets and other programs. */
const SPELLINGS = [
  '13105550188',
  '3105550188',
  '+13105550188',
  '(310) 555-0188',
  '+1 (310) 555-0188',
  '1-310-555-0188',
  '310.555.0188',
  '310 555 0188',
  '310/555/0188',
  '310–555–0188',
  '310\u00a0555\u00a00188',
  '00 1 310 555 0188',
  '011 1 310 5550188',
  "'3105550188",
  '３１０５５５０１８８',
  '٣١٠-٥٥٥-٠١٨٨',
  '310-555-0188 x12',
];
/** Numbers of other people, and texts that have some of the digits. */
const OTHERS = [
  '13105550189',
  '(310) 555-0187',
  '313105550188',
  '31055501881',
  '310 555',
  '555-0188',
  '+44 310 555 0188',
];

test('rejected rows and values of lists lose the number in any spelling, and keep others', async () => {
  const all = [...SPELLINGS, ...OTHERS];
  const [file] = await world.sql<{ id: string }>(
    'SELECT id FROM buyer_suppression_files WHERE company_id = $1 LIMIT 1',
    [world.company.id],
  );
  await world.sql('DELETE FROM rejected_rows');
  await world.sql(
    `INSERT INTO rejected_rows (company_id, buyer_suppression_file_id, line, caller_id, reason)
    SELECT $1, $2, n, text, 'is not a possible telephone number'
    FROM unnest($3::text[]) WITH ORDINALITY AS x (text, n)`,
    [world.company.id, file!.id, all],
  );
  const { api } = world.company;
  const { body } = await api('post', 'value_lists', { body: { name: 'Known', values: all } });
  const { id, values_count } = body.value_list;
  const deletedList = await api('post', 'value_lists', {
    body: { name: 'Gone', values: SPELLINGS },
  });
  await api('delete', `value_lists/${deletedList.body.value_list.id}`);

  const { erased } = await erase();
  const rows = await world.sql<{ caller_id: string }>(
    'SELECT caller_id FROM rejected_rows ORDER BY line',
  );
  expect(rows.map(({ caller_id }) => caller_id)).toEqual([...SPELLINGS.map(() => ''), ...OTHERS]);
  const values = await world.sql<{ value: string }>(
    'SELECT value FROM list_values WHERE value_list_id = ANY($1)',
    [[id, deletedList.body.value_list.id]],
  );
  expect(values.map(({ value }) => value).toSorted()).toEqual(OTHERS.toSorted());
  expect(erased).toMatchObject({
    rejected_rows: SPELLINGS.length,
    list_values: values_count - OTHERS.length + SPELLINGS.length,
  });
  const shown = await api('get', `value_lists/${id}`);
  expect(shown.body.value_list.values_count).toBe(OTHERS.length);
});

test('numbers of other countries: as at home, as from abroad, with (0)', async () => {
  const spellings = ['020 7946 0018', '+44 (0)20 7946 0018', '0044 20 79460018', '442079460018'];
  const otherNumbers = ['020 7946 0019', '+1 207 946 0018', '(207) 946-0018', '207 946 0018'];
  const { api } = world.company;
  const { body } = await api('post', 'value_lists', {
    body: { name: 'British', values: [...spellings, ...otherNumbers] },
  });
  await erase('442079460018');
  const values = await world.sql<{ value: string }>(
    'SELECT value FROM list_values WHERE value_list_id = $1',
    [body.value_list.id],
  );
  expect(values.map(({ value }) => value).toSorted()).toEqual(otherNumbers.toSorted());
});

const MENTION = `Frieda, (310) 555-0188 or ${EMAIL}, asked`;

/** Writes a mention of the person into a column that holds text. */
async function mention(table: string, column: string): Promise<void> {
  const [type] = await world.sql<{ name: string }>(
    `SELECT format_type(atttypid, NULL) AS name FROM pg_attribute
    WHERE attrelid = $1::regclass AND attname = $2`,
    [table, column],
  );
  const values: Record<string, unknown> = {
    text: MENTION,
    'text[]': ['first', MENTION],
    json: JSON.stringify({ note: MENTION }),
    // The instruction by which a leg was dialed has the number in one place.
    jsonb: JSON.stringify(column === 'dial' ? { caller_id: NUMBER } : { note: MENTION }),
    bigint: NUMBER,
  };
  // The other side of a call or a text is a number of the company.
  const side: Record<string, string> = {
    from_number: `WHERE direction = 'inbound'`,
    to_number: `WHERE direction <> 'inbound'`,
  };
  await world.sql(`UPDATE ${table} SET ${column} = $1 ${side[column] ?? ''}`, [values[type!.name]]);
}

const mentions = async (table: string, column: string) => {
  const rows = await world.sql<{ text: string }>(
    `SELECT ${column}::text AS text FROM ${table}
    WHERE ${column}::text ~ '310.{0,4}555.{0,2}0188|frieda.quux'`,
  );
  return rows.map(({ text }) => `${table}.${column}: ${text}`);
};

/** Columns that are emptied with rows of the person, once all rows of their tables are. */
const ERASED = OWNERSHIP
  // Reservations expire, and bids have only numbers: see the tests of both.
  .filter(({ name }) => !['call_holds', 'bids', 'list_values', 'rejected_rows'].includes(name))
  .flatMap(({ name: table, rules }) =>
    rules
      .filter(({ words }) => words.includes('erased') || words.includes('deleted'))
      .map(({ name: column }) => ({ table, column })),
  );
const TEXTS = REDACTED_TABLES.flatMap(({ table, columns }) =>
  columns.map(({ name: column }) => ({ table, column })),
);

/** Rows of tables that the fixture leaves empty, of the company $1 and the call $2. */
const ROWS = [
  `INSERT INTO call_events (company_id, call_id, event) VALUES ($1, $2, 'x')`,
  `INSERT INTO call_decisions (company_id, call_id, round, created_at, decision)
  VALUES ($1, $2, 9, now(), '{}')`,
  `INSERT INTO call_attempts (
    company_id, uuid, call_id, round, buyer_id, connect_to, status, timeout_seconds,
    press_one_to_accept, dial
  )
  SELECT c.company_id, gen_random_uuid(), c.id, 9, b.id, '+12135550100', 'completed', 9, false, '{}'
  FROM calls c JOIN buyers b USING (company_id)
  WHERE c.company_id = $1 AND c.id = $2
  LIMIT 1`,
  `INSERT INTO webhook_events (
    company_id, kind, occurred_at, record_id, transaction_id, snapshot
  ) VALUES ($1, 'lead_created', now(), $2, 1, '{}')`,
  `INSERT INTO text_messages (
    company_id, uuid, direction, from_number, to_number, body, status, carrier
  )
  SELECT $1, gen_random_uuid(), 'outbound', 12125550100, 12125550101, '', 'sent', 'sandbox'
  WHERE $2::bigint IS NOT NULL`,
];

describe('every column of the declaration', () => {
  let receipt: Awaited<ReturnType<typeof erase>>;
  const without: string[] = [];
  beforeAll(async () => {
    const { id } = world.company;
    const [call] = await world.sql<{ id: string }>('SELECT min(id) AS id FROM calls');
    const [lead] = await world.sql<{ id: string }>('SELECT min(id) AS id FROM leads');
    for (const text of ROWS) await world.sql(text, [id, call!.id]);
    for (const [table, of] of [
      ['calls', 'lead_id'],
      ['webhook_deliveries', 'lead_id'],
      ['webhook_logs', 'lead_id'],
      ['text_messages', 'lead_id'],
      ['emails', 'lead_id'],
    ] as const)
      await world.sql(`UPDATE ${table} SET ${of} = $1`, [lead!.id]);
    await world.sql('UPDATE calls SET ended_at = coalesce(ended_at, now())');
    await world.sql(`UPDATE leads SET is_live = false, due_at = NULL`);
    await world.sql('DELETE FROM contacts WHERE id <> (SELECT min(id) FROM contacts)');
    await world.sql('UPDATE contacts SET caller_number = $1, blocked = true', [NUMBER]);
    await world.sql(
      `UPDATE change_logs SET record_type = 'Lead', record_id = $1, access_token_id = NULL`,
      [lead!.id],
    );
    for (const { table, column } of [...ERASED, ...TEXTS]) await mention(table, column);
    await world.sql('UPDATE leads SET email = $1', [EMAIL]);
    for (const { table, column } of [...ERASED, ...TEXTS])
      if ((await mentions(table, column)).length === 0) without.push(`${table}.${column}`);
    receipt = await erase();
  });

  test('mentions the person before', () => {
    expect(without).toEqual([]);
  });

  test.each([...ERASED, ...TEXTS].map(({ table, column }) => [table, column]))(
    '%s.%s',
    async (table, column) => {
      expect(await mentions(table!, column!)).toEqual([]);
    },
  );

  test('of what people wrote, only the number and the address are gone', async () => {
    const [offer] = await world.sql<{ name: string }>('SELECT name FROM offers');
    expect(offer!.name).toBe('Frieda, [erased] or [erased], asked');
  });

  test('the receipt has every table that was changed, and every column that stays, with why', () => {
    expect(Object.keys(receipt.erased)).toEqual(
      expect.arrayContaining([
        'leads',
        'calls',
        'account_entries',
        'agent_messages',
        'alert_rules',
      ]),
    );
    const shown = receipt.kept_columns.flatMap(({ table, columns, why }) =>
      columns.map((column) => [`${table}.${column}`, why]),
    );
    const staying = OWNERSHIP.flatMap(({ name: table, rules }) =>
      rules
        .filter(({ words }) => words[0] === 'stays')
        .map(({ name: column, words }) => [`${table}.${column}`, KEPT_REASONS[words[1]!]]),
    );
    expect(shown.toSorted()).toEqual(staying.toSorted());
    expect(KEPT_TABLE_COLUMNS.length).toBeGreaterThan(30);
  });

  test('repeated, it finds nothing more', async () => {
    const secondReceipt = await erase();
    expect([secondReceipt.erased, secondReceipt.recording_urls]).toEqual([{}, []]);
  });
});

const PORTION = repetitions(20, 200);
const RECORDS = 2 * PORTION + 5;

test('of a person with more calls, texts and leads than one transaction takes, nothing is left', async () => {
  const number = '13105550199';
  const { id } = world.company;
  for (const text of [
    `INSERT INTO calls (company_id, uuid, direction, caller_number, from_number, to_number, status,
      carrier, token_values, recording_url, ended_at)
    SELECT $1, gen_random_uuid(), 'inbound', $2, $2, 12125550100, 'completed', 'sandbox', '{}',
      'https://carrier.example/' || n, now()
    FROM generate_series(1, ${RECORDS}) n`,
    `INSERT INTO text_messages (company_id, uuid, direction, from_number, to_number, body, status,
      carrier)
    SELECT $1, gen_random_uuid(), 'inbound', $2, 12125550100, 'Hello', 'received', 'sandbox'
    FROM generate_series(1, ${RECORDS}) n`,
    `INSERT INTO leads (company_id, uuid, caller_number, offer_id, status, is_live, entered_at,
      email)
    SELECT $1, gen_random_uuid(), $2, o.id, 'disabled', false, now(), 'many' || n || '@example.com'
    FROM generate_series(1, ${RECORDS}) n, (SELECT min(id) AS id FROM offers) o`,
    `INSERT INTO emails (company_id, uuid, from_email, to_email, subject, body, html, status, mailer)
    SELECT $1, gen_random_uuid(), 'a@b.example', 'Many' || n || '@example.com', 'Hello', 'Hi', false,
      'sent', 'sandbox'
    FROM generate_series(1, ${RECORDS}) n WHERE $2::bigint IS NOT NULL`,
  ])
    await world.sql(text, [id, number]);
  const notifiedUrls: string[] = [];
  const options = {
    number,
    now: time.read(),
    portion: PORTION,
    onRecordings: (urls: string[]) => notifiedUrls.push(...urls),
  };
  const { erased, recording_urls } = await erasePerson(world.deps.tenants, id, options);
  expect(erased).toMatchObject({
    calls: RECORDS,
    leads: RECORDS,
    text_messages: RECORDS,
    emails: RECORDS,
  });
  expect([recording_urls.length, notifiedUrls]).toEqual([RECORDS, recording_urls]);
  for (const [table, column] of [
    ['calls', 'from_number'],
    ['text_messages', 'from_number'],
    ['leads', 'caller_number'],
    ['emails', 'to_email'],
  ]) {
    const rows = await world.sql(
      `SELECT FROM ${table} WHERE ${column}::text = $1 OR ${column}::text ~ '^[Mm]any'`,
      [number],
    );
    expect([table, rows.length]).toEqual([table, 0]);
  }
});

test('settings that name the person stay, and are counted', async () => {
  await world.sql('UPDATE outgoing_webhooks SET body = $1', [MENTION]);
  const { kept: keptCounts } = await erase();
  expect(keptCounts.outgoing_webhooks).toBeGreaterThan(0);
  expect(await mentions('outgoing_webhooks', 'body')).not.toEqual([]);
});
