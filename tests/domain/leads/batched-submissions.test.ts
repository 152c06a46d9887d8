import { setTimeout } from 'node:timers/promises';
import { openShop, submit } from '../../support/leads';
import { useWorld } from '../../support/use-world';

const world = useWorld({ fresh: 'company' });
const { api } = world;
let leadToken: string;
beforeEach(async () => {
  leadToken = (await openShop(world, [])).schedule.lead_token;
});

const toNumber = (n: number) => `3105550${String(n).padStart(3, '0')}`;
const live = () =>
  world.sql<{ caller_number: string; data: Record<string, string> }>(
    'SELECT caller_number, data FROM leads WHERE company_id = $1 AND is_live',
    [world.company.id],
  );

describe('submissions that come at the same time', () => {
  test('each return their own lead, one for each number', async () => {
    const submissions = Array.from({ length: 400 }, (_, n) => ({
      caller_id: toNumber(n % 150),
      [`token_${n}`]: `value ${n}`,
    }));
    const responses = await Promise.all(
      submissions.map((fields) => submit(world, leadToken, fields)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(150);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(250);
    responses.forEach(({ body }, n) => {
      expect(body.lead).toMatchObject({
        caller_id: `+1${submissions[n]!.caller_id}`,
        data: { [`token_${n}`]: `value ${n}` },
      });
    });
    const liveLeads = await live();
    expect(liveLeads).toHaveLength(150);
    expect(new Set(liveLeads.flatMap(({ data }) => Object.keys(data))).size).toBe(400);
    const { metadata } = (await api('get', 'leads')).body;
    expect(metadata.total_count).toBe(150);
  });

  test('are refused one by one: what is wrong with one is no matter to the others', async () => {
    const large = (key: string) => ({ [key]: 'x'.repeat(60_000) });
    const post = (callerId: string, data: object) =>
      api('post', 'leads', {
        auth: null,
        body: { lead_token: leadToken, caller_id: callerId, data },
      });
    await post(toNumber(0), large('a'));
    await post(toNumber(0), large('b'));
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, n) => post(toNumber(n), n === 0 ? large('c') : { n })),
    );
    expect(responses.map(({ status }) => status)).toEqual([422, ...Array(59).fill(201)]);
    expect(responses[0]!.body.errors).toEqual({ data: [expect.stringContaining('128 kB')] });
  });

  test('do not wait for the one whose lead is locked', async () => {
    await submit(world, leadToken, { caller_id: toNumber(0) });
    const client = await world.deps.database.pool.connect();
    let locked: Promise<{ status: number; body: { lead: { data: unknown } } }>;
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM leads WHERE company_id = $1 FOR UPDATE', [world.company.id]);
      let isAnswered = false;
      locked = submit(world, leadToken, { caller_id: toNumber(0), retry: 'yes' }).then(
        (res) => ((isAnswered = true), res),
      );
      for (let round = 0; round < 3; round++) {
        const responses = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            submit(world, leadToken, { caller_id: toNumber(1 + n + round * 20) }),
          ),
        );
        expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(201));
      }
      await setTimeout(600);
      expect(isAnswered).toBe(false);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    expect(await locked).toMatchObject({ status: 200, body: { lead: { data: { retry: 'yes' } } } });
  });

  test(
    'to a schedule that is deleted meanwhile are made leads or refused, ' + 'never lost',
    async () => {
      const schedule = (await openShop(world, [])).schedule;
      const sending = Array.from({ length: 100 }, (_, n) =>
        submit(world, schedule.lead_token, { caller_id: toNumber(n) }),
      );
      await api('delete', `schedules/${schedule.id}`);
      const responses = await Promise.all(sending);
      const leadIds = responses
        .filter(({ status }) => status === 201)
        .map(({ body }) => body.lead_id);
      // After ten with a token that is no longer one, further ones get 429.
      const expected = [201, 401, 422, 429];
      expect(responses.filter(({ status }) => !expected.includes(status))).toEqual([]);
      const storedLeads = await world.sql<{ id: string }>(
        'SELECT id FROM leads WHERE company_id = $1 AND schedule_id = $2',
        [world.company.id, schedule.id],
      );
      expect(storedLeads.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
        leadIds.sort((a, b) => a - b),
      );
    },
  );
});
