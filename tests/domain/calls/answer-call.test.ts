import { setTimeout } from 'node:timers/promises';
import { answerCall } from '../../../src/domain/calls/answer-call';
import { handleCallEvent } from '../../../src/domain/calls/handle-event';
import { reportOutbound } from '../../../src/domain/calls/report-outbound';
import { playSandboxCall } from '../../../src/domain/telephony/play-sandbox-call';
import { standingClock } from '../../support/clock';
import { NOON, openShop, runEngine, submit, wait } from '../../support/leads';
import { startReceiver, type Answer } from '../../support/receiver';
import { createWorld, type World } from '../../support/world';

let world: World;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
/** The answer about each buyer, by its name; 200 by default. */
let answers: Record<string, Answer> = {};
const time = standingClock(NOON);
beforeAll(async () => {
  receiver = await startReceiver(({ body }) => answers[JSON.parse(body).data.buyer.name] ?? 200);
  world = await createWorld({
    clock: time.read,
    environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' },
  });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});
beforeEach(async () => {
  answers = {};
  time.set(NOON);
  world.company = await world.addCompany();
});

const ok = async (method: 'get' | 'post' | 'put', path: string, body?: object) => {
  const res = await world.company.api(method, path, body && { body });
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};

/** A lead that was just called for an offer with the buyers First and Second. */
async function createCalledLead(fields: object = {}) {
  const { schedule, offer } = await openShop(world, [{ action_type: 'dial' }, wait(1)]);
  const ids: number[] = [];
  for (const [n, name] of ['First', 'Second'].entries()) {
    const body = { name, number: `+1212555013${n}`, tier: n, ...fields };
    ids.push((await ok('post', 'buyers', body)).buyer.id);
  }
  await ok('put', `offers/${offer.id}`, { buyer_ids: ids, abandoned_message: 'This was Acme.' });
  const lead = (await submit(world, schedule.lead_token)).body.id as number;
  await runEngine(world);
  const [call] = await world.sql<{ id: string; uuid: string; carrier_call_id: string }>(
    'SELECT id, uuid, carrier_call_id FROM calls WHERE lead_id = $1',
    [lead],
  );
  const { uuid, carrier_call_id: callSid } = call!;
  return {
    lead,
    offer: offer.id,
    buyers: ids,
    call: call!,
    job: { company_id: String(world.company.id), uuid },
    answer: {
      key: uuid,
      call_sid: callSid,
      answered_by: 'human',
      answered_at: time.read(),
    } as const,
    db: world.deps.tenants.of(world.company.id),
    shown: async () => (await ok('get', `calls/${uuid}`)).call,
  };
}
const createPreDialWebhook = () =>
  ok('post', 'outgoing_webhooks', {
    name: 'Ask',
    trigger_type: 'before_buyer_dialled',
    url: `${receiver.url}/ask`,
  });

describe('webhooks that are asked before a buyer is dialed', () => {
  test('are asked about a person who was called; a veto leads to the next buyer', async () => {
    await createPreDialWebhook();
    const { buyers, job, shown } = await createCalledLead();
    answers.First = 409;
    await playSandboxCall(job, world.deps);
    expect(await shown()).toMatchObject({ buyer_id: buyers[1], attempts_count: 1 });
  });

  test('that answer too late leave the person to the message, and take no caps', async () => {
    await createPreDialWebhook();
    const { buyers, job, shown } = await createCalledLead();
    answers.First = (res) => {
      time.set(new Date(Date.parse(NOON) + 2_500).toISOString());
      res.writeHead(200).end();
    };
    await playSandboxCall(job, world.deps);
    expect(await shown()).toMatchObject({ abandoned: true, fallback: 'message', buyer_id: null });
    const caps = await world.sql('SELECT attempt_total_used FROM call_limits WHERE buyer_id = $1', [
      buyers[0],
    ]);
    expect(caps).toEqual([{ attempt_total_used: 0 }]);
  });
});

/** Waits until a query of the world's database has waited for a lock for longer than a second. */
async function waitUntilStuck(): Promise<void> {
  const stuck = `
    SELECT FROM pg_stat_activity
    WHERE datname = current_database()
      AND wait_event_type = 'Lock'
      AND clock_timestamp() > query_start + interval '1200 ms'`;
  while ((await world.deps.database.pool.query(stuck)).rowCount === 0) await setTimeout(50);
}

test.each(['answer', 'end'] as const)(
  'the %s of a call that is still being placed waits for what the carrier said',
  async (what) => {
    const { lead, call, answer, db, shown } = await createCalledLead();
    await world.sql(`UPDATE calls SET status = 'sending' WHERE id = $1`, [call.id]);
    await world.sql('BEGIN');
    await world.sql('SELECT FROM leads WHERE id = $1 FOR NO KEY UPDATE', [lead]);
    const now = time.read();
    const end = { key: call.uuid, carrier_call_id: 'SB1', status: 'busy', duration: 0 } as const;
    const reported = what === 'answer' ? answerCall(db, answer, now) : reportOutbound(db, end, now);
    await waitUntilStuck();
    await world.sql(`UPDATE calls SET status = 'queued' WHERE id = $1`, [call.id]);
    await world.sql('COMMIT');
    await reported;
    expect((await shown()).status).toBe(what === 'answer' ? 'in_progress' : 'busy');
  },
);

test('one person called and calling at once: both conversions, no deadlock', async () => {
  const { lead, offer, buyers, answer, db, shown } = await createCalledLead({
    current_conversion_revenue: 10,
    current_conversion_duration: 0,
    current_conversion_duplicate_timeframe: 0,
  });
  const calling = Array.from({ length: 6 }, (_, n) =>
    ok('post', 'call_sessions', {
      offer_id: offer,
      caller_number: '+13105550123',
      call_sid: `in-${n}`,
    }),
  );
  const [called] = await Promise.all([answerCall(db, answer, time.read()), ...calling]);
  expect(called).toMatchObject({ kind: 'route' });
  await handleCallEvent(db, answer.key, { event: 'completed', duration: 5 }, time.read());
  expect(await shown()).toMatchObject({ status: 'completed', revenue: 10 });
  const [sold] = await world.sql('SELECT revenue FROM leads WHERE id = $1', [lead]);
  expect(sold).toEqual({ revenue: '70.00' });
  const used = await world.sql<{ attempt_total_used: number }>(
    'SELECT attempt_total_used FROM call_limits WHERE buyer_id = ANY($1)',
    [buyers],
  );
  expect(used.reduce((sum, { attempt_total_used }) => sum + attempt_total_used, 0)).toBe(7);
});
