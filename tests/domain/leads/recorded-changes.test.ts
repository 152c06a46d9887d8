import { openShop, submit, type Shop } from '../../support/leads';
import { useWorld } from '../../support/use-world';
import type { Company } from '../../support/world';
import { leadInsert, leadUpdate } from '../../support/write-leads';

// Changes of leads are recorded where several transactions, or several statements of one, meet.

const world = useWorld();
let company: Company;
let shop: Shop;

beforeEach(async () => {
  company = world.company = await world.addCompany();
  shop = await openShop(world, [{ action_type: 'wait', wait_amount: 1, wait_unit: 'days' }]);
  const kinds = ['new_lead_created', 'lead_changed', 'contact_fields_changed', 'lead_opted_out'];
  for (const triggerType of kinds)
    await company.api('post', 'outgoing_webhooks', {
      body: { name: triggerType, trigger_type: triggerType, url: 'https://example.com/hook' },
    });
});

interface Lead {
  email: string | null;
  status: string;
  dial_number_id: number | null;
  step: number;
}

const events = async () =>
  (
    await world.sql<{ kind: string; record_id: string; lead: Lead }>(
      `SELECT kind, record_id, snapshot->'lead' AS lead FROM webhook_events
      WHERE company_id = $1 ORDER BY id`,
      [company.id],
    )
  ).map(({ kind, record_id, lead }) => ({ kind, id: Number(record_id), lead }));
const kinds = async () => (await events()).map(({ kind }) => kind);
const loadCount = async () =>
  (
    await world.sql<{ n: number }>(
      'SELECT coalesce(sum(n), 0)::int AS n FROM next_action_counts WHERE company_id = $1',
      [company.id],
    )
  )[0]!.n;

const INSERT = leadInsert(
  `INSERT INTO leads (company_id, uuid, caller_number, schedule_id, status, zones, entered_at,
    next_action_at, due_at)
  VALUES ($1, gen_random_uuid(), 13105550123, $2, 'scheduled', '{America/New_York}', now(), now(),
    now())`,
);

test('a submission that waits for a lead that is being made changes it, and says so', async () => {
  const client = await world.deps.database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(INSERT, [company.id, shop.schedule.id]);
    const submitted = submit(world, shop.schedule.lead_token, { email: 'ann@example.com' });
    const isWaiting = async () =>
      (
        await world.sql(
          `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).length > 0;
    while (!(await isWaiting())) await new Promise((done) => setTimeout(done, 10));
    await client.query('COMMIT');
    expect((await submitted).status).toBe(200);
  } finally {
    client.release();
  }
  expect(await kinds()).toEqual(['new_lead_created', 'lead_changed', 'contact_fields_changed']);
  expect(await loadCount()).toBe(1);
});

test('parallel first submissions of numbers make one lead of each, and count it once', async () => {
  const numbers = Array.from({ length: 12 }, (_, n) => `3105550${100 + n}`);
  const all = [...numbers, ...numbers.toReversed(), ...numbers];
  const answers = await Promise.all(
    all.flatMap((callerId, n) => [
      submit(world, shop.schedule.lead_token, { caller_id: callerId, sub_id: `a${n}` }),
      submit(world, shop.schedule.lead_token, {
        caller_id: callerId,
        sub_id: `b${n}`,
        next_action_at: '2030-01-01T10:00:00Z',
      }),
    ]),
  );
  const createdAnswers = answers.filter(({ status }) => status === 201);
  expect([createdAnswers.length, answers.filter(({ status }) => status === 200).length]).toEqual([
    12, 60,
  ]);
  const eventKinds = await kinds();
  expect(eventKinds.filter((kind) => kind === 'new_lead_created')).toHaveLength(12);
  expect(eventKinds.filter((kind) => kind === 'lead_changed')).toHaveLength(60);
  expect(await loadCount()).toBe(12);
});

test('the events of a transaction have each lead as it was written last', async () => {
  const client = await world.deps.database.pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query(INSERT, [company.id, shop.schedule.id]);
    const otherInsert = INSERT.replace('13105550123', '13105550124');
    await client.query(otherInsert, [company.id, shop.schedule.id]);
    // The last change is of the engine's own state, which is no event by itself.
    for (const set of [`email = 'a@example.com'`, `status = 'running'`, 'step = 3'])
      await client.query(leadUpdate(set, 'l.company_id = $1 AND l.id = $2'), [
        company.id,
        rows[0].id,
      ]);
    await client.query('COMMIT');
    const id = Number(rows[0].id);
    const last = { email: 'a@example.com', status: 'running', step: 3 };
    expect(await events()).toMatchObject([
      { kind: 'new_lead_created', id, lead: last },
      { kind: 'new_lead_created', lead: { email: null, status: 'scheduled', step: 0 } },
      { kind: 'lead_changed', id, lead: last },
      { kind: 'contact_fields_changed', id, lead: last },
    ]);
  } finally {
    client.release();
  }
  await world.sql(leadUpdate('step = 4', 'l.company_id = $1'), [company.id]);
  expect(await events()).toHaveLength(4);
});

test('a number that a submission assigns is in the event of the new lead', async () => {
  const { body } = await submit(world, shop.schedule.lead_token, { assign_service_number: true });
  const [row] = await world.sql<{ dial_number_id: string }>(
    'SELECT dial_number_id FROM leads WHERE id = $1',
    [body.id],
  );
  expect(row!.dial_number_id).not.toBeNull();
  expect(await events()).toMatchObject([
    {
      kind: 'new_lead_created',
      id: body.id,
      lead: { dial_number_id: Number(row!.dial_number_id) },
    },
  ]);
});

test('what is rolled back is not recorded', async () => {
  const client = await world.deps.database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(INSERT, [company.id, shop.schedule.id]);
    await client.query('ROLLBACK');
  } finally {
    client.release();
  }
  expect([await kinds(), await loadCount()]).toEqual([[], 0]);
});

test('an opt-out by a token alone is one event, with and without a live lead', async () => {
  const ask = async (number: string, verb: string) => {
    const { status } = await company.api('post', `leads/${encodeURIComponent(number)}/${verb}`, {
      auth: null,
      query: { lead_token: shop.schedule.lead_token },
    });
    expect([verb, status]).toEqual([verb, 200]);
  };
  const outs = async () => (await events()).filter(({ kind }) => kind === 'lead_opted_out');
  const { body: live } = await submit(world, shop.schedule.lead_token);
  for (let n = 0; n < 2; n++) await ask('+13105550123', 'caller_opt_out');
  const first = { id: live.id, lead: { status: 'opt_out' } };
  expect(await outs()).toMatchObject([first]);
  const { body: ended } = await submit(world, shop.schedule.lead_token, {
    caller_id: '3105550124',
  });
  await ask('+13105550124', 'caller_remove');
  for (let n = 0; n < 2; n++) await ask('+13105550124', 'caller_opt_out');
  expect(await outs()).toMatchObject([first, { id: ended.id, lead: { status: 'disabled' } }]);
});
