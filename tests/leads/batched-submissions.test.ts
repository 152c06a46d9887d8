import { setTimeout } from 'node:timers/promises';
import { openShop, submit } from '../support/leads';
import { createWorld, type World } from '../support/world';

let world: World;
let lead_token: string;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  world.company = await world.addCompany();
  lead_token = (await openShop(world, [])).schedule.lead_token;
});
afterAll(() => world.close());

const numberOf = (n: number) => `3105550${String(n).padStart(3, '0')}`;
const live = () =>
  world.sql<{ caller_number: string; data: Record<string, string> }>(
    'SELECT caller_number, data FROM leads WHERE company_id = $1 AND is_live',
    [world.company.id],
  );

describe('submissions that come at the same time', () => {
  test('each return their own lead, one for each number', async () => {
    const sent = Array.from({ length: 400 }, (_, n) => ({
      caller_id: numberOf(n % 150),
      [`token_${n}`]: `value ${n}`,
    }));
    const responses = await Promise.all(sent.map((fields) => submit(world, lead_token, fields)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(150);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(250);
    responses.forEach(({ body }, n) => {
      expect(body.lead).toMatchObject({
        caller_id: `+1${sent[n]!.caller_id}`,
        data: { [`token_${n}`]: `value ${n}` },
      });
    });
    const kept = await live();
    expect(kept).toHaveLength(150);
    expect(new Set(kept.flatMap(({ data }) => Object.keys(data))).size).toBe(400);
    const { metadata } = (await world.company.api('get', 'leads')).body;
    expect(metadata.total_count).toBe(150);
  });

  test('are refused one by one: what is wrong with one is no matter to the others', async () => {
    const large = (key: string) => ({ [key]: 'x'.repeat(60_000) });
    const post = (caller_id: string, data: object) =>
      world.company.api('post', 'leads', { auth: null, body: { lead_token, caller_id, data } });
    await post(numberOf(0), large('a'));
    await post(numberOf(0), large('b'));
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, n) => post(numberOf(n), n === 0 ? large('c') : { n })),
    );
    expect(responses.map(({ status }) => status)).toEqual([422, ...Array(59).fill(201)]);
    expect(responses[0]!.body.errors).toEqual({ data: [expect.stringContaining('128 kB')] });
  });

  test('do not wait for the one whose lead is locked', async () => {
    await submit(world, lead_token, { caller_id: numberOf(0) });
    const client = await world.deps.database.pool.connect();
    let locked: Promise<{ status: number; body: { lead: { data: unknown } } }>;
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM leads WHERE company_id = $1 FOR UPDATE', [world.company.id]);
      let is_answered = false;
      locked = submit(world, lead_token, { caller_id: numberOf(0), again: 'yes' }).then(
        (res) => ((is_answered = true), res),
      );
      for (let round = 0; round < 3; round++) {
        const others = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            submit(world, lead_token, { caller_id: numberOf(1 + n + round * 20) }),
          ),
        );
        expect(others.map(({ status }) => status)).toEqual(Array(20).fill(201));
      }
      await setTimeout(600);
      expect(is_answered).toBe(false);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    expect(await locked).toMatchObject({ status: 200, body: { lead: { data: { again: 'yes' } } } });
  });

  test(
    'to a schedule that is deleted meanwhile are made leads or refused, ' + 'never lost',
    async () => {
      const schedule = (await openShop(world, [])).schedule;
      const sending = Array.from({ length: 100 }, (_, n) =>
        submit(world, schedule.lead_token, { caller_id: numberOf(n) }),
      );
      await world.company.api('delete', `schedules/${schedule.id}`);
      const responses = await Promise.all(sending);
      const made = responses.filter(({ status }) => status === 201).map(({ body }) => body.lead_id);
      // After ten with a token that is no longer one, further ones get 429.
      const expected = [201, 401, 422, 429];
      expect(responses.filter(({ status }) => !expected.includes(status))).toEqual([]);
      const kept = await world.sql<{ id: string }>(
        'SELECT id FROM leads WHERE company_id = $1 AND schedule_id = $2',
        [world.company.id, schedule.id],
      );
      expect(kept.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
        made.sort((a, b) => a - b),
      );
    },
  );
});
