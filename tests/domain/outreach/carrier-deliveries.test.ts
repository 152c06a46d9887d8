import { setTimeout } from 'node:timers/promises';
import type { Carrier } from '../../../src/platform/carriers/carrier';
import type { Deps } from '../../../src/domain/deps';
import { processDueLeads } from '../../../src/domain/outreach/due-leads';
import { startOutreach } from '../../../src/main/background/start';
import { eventually, createGate, type Meanwhile } from '../../support/engine-process';
import {
  DIAL,
  EMAIL,
  loadLeadRow,
  loadSent,
  SMS,
  loadStory,
  submit,
  wait,
} from '../../support/leads';
import { outreachServers } from '../../support/outreach-servers';

const env = outreachServers();
const { twilio, worker, run, settleAll, createShop, submitted, bodies, watched, expectBothSent } =
  env;

describe('what goes out', () => {
  test('is written down, for all to see, before it is sent', async () => {
    const lead = await submitted([SMS, DIAL]);
    const statuses: unknown[] = [];
    const look: Meanwhile = async (phase) => {
      if (phase === 'before')
        for (const table of ['text_messages', 'calls'] as const)
          statuses.push(
            ...(await loadSent(env.world, table, lead)).map(({ status }) => `${table} ${status}`),
          );
    };
    await run(worker({ carrier: watched(look) }));
    expect(statuses).toEqual(['text_messages sending', 'text_messages queued', 'calls sending']);
  });

  test('goes out at once and once each, several things to a lead in a row', async () => {
    const lead = await submitted([
      SMS,
      EMAIL,
      DIAL,
      { ...SMS, body: 'And' },
      { ...EMAIL, subject: 'More' },
      wait(1),
      SMS,
    ]);
    await run(worker());
    expect([bodies(), env.server.calls.length, env.mail.received.length]).toEqual([
      ['Hello', 'And'],
      1,
      2,
    ]);
    expect((await loadStory(env.world, lead)).slice(1, -1)).toEqual([
      'sms_sent: queued',
      'email_sent: sent',
      'call_placed: queued',
      'sms_sent: queued',
      'email_sent: sent',
    ]);
    expect(env.server.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
    expect(await env.server.settle()).toEqual([200, 200, 200]);
    expect(
      (await loadSent(env.world, 'text_messages', lead)).map(({ status, carrier_message_id }) => [
        status,
        carrier_message_id,
      ]),
    ).toEqual(env.server.messages.map(({ sid }) => ['delivered', sid]).toReversed());
    expect(await loadSent(env.world, 'calls', lead)).toMatchObject([
      { status: 'completed', carrier_call_id: env.server.calls[0]!.sid },
    ]);
  });

  test('goes once to each of 40 leads from two workers whose leases end early', async () => {
    const { schedule } = await createShop([SMS, EMAIL]);
    for (let n = 0; n < 40; n++)
      await submit(env.here, schedule.lead_token, {
        caller_id: `31020000${10 + n}`,
        email: 'ann@example.com',
      });
    const slow = () => worker({ carrier: watched(() => setTimeout(40)) });
    const [a, b] = [slow(), slow()];
    const none = async () =>
      (
        await env.world.sql('SELECT FROM leads WHERE company_id = $1 AND is_live', [
          env.here.company.id,
        ])
      ).length === 0;
    const loop = (deps: Deps) =>
      eventually(async () => (await processDueLeads(deps, { lease_ms: 150 })) === 0 && none(), 20);
    await Promise.all([loop(a), loop(b)]);
    expect([
      env.server.messages.length,
      new Set(env.server.messages.map(({ to }) => to)).size,
      env.mail.received.length,
    ]).toEqual([40, 40, 40]);
    expect(
      await env.world.sql(
        'SELECT status, count(*)::int FROM emails WHERE company_id = $1 GROUP BY 1',
        [env.here.company.id],
      ),
    ).toEqual([{ status: 'sent', count: 40 }]);
  });
});

describe('while a carrier is at work', () => {
  test('it may report before its answer is recorded: nothing of both is lost', async () => {
    const leads = [
      await submitted([SMS, wait(9)]),
      await submitted([DIAL, wait(9)], { caller_id: '3102000002' }),
    ];
    const reports: Promise<number[]>[] = [];
    const report: Meanwhile = async (phase) => {
      if (phase === 'before') return;
      reports.push(env.server.settle());
      await setTimeout(150);
    };
    await run(worker({ carrier: watched(report) }));
    expect((await Promise.all(reports)).flat()).toEqual([200, 200]);
    await expectBothSent(leads);
    for (const lead of leads)
      expect(await loadLeadRow(env.world, lead)).toMatchObject({
        is_live: true,
        claim_id: null,
        contact_attempts: 1,
      });
  });

  test('forty leads opt out: each is texted before that was answered, or never', async () => {
    const { schedule } = await createShop([SMS, { ...SMS, body: 'Two' }]);
    const numbers = Array.from({ length: 40 }, (_, n) => `31020000${10 + n}`);
    for (const callerId of numbers)
      await submit(env.here, schedule.lead_token, { caller_id: callerId });
    const inner = twilio();
    const began: { to: string; at: number }[] = [];
    const sendSms: Carrier['sendSms'] = async (request) => {
      began.push({ to: request.to, at: performance.now() });
      await setTimeout(20);
      return inner.sendSms(request);
    };
    const working = run(worker({ carrier: { ...inner, sendSms } }));
    await eventually(() => began.length >= 8);
    const answered = new Map<string, number>();
    await Promise.all(
      numbers.toReversed().map(async (number) => {
        const { status } = await env.here.company.api('put', `leads/${number}/caller_opt_out`, {
          auth: null,
          query: { lead_token: schedule.lead_token },
        });
        expect(status).toBe(200);
        answered.set(`+1${number}`, performance.now());
      }),
    );
    await working;
    await settleAll();
    expect(began.filter(({ to, at }) => at > answered.get(to)!)).toEqual([]);
    expect(env.server.messages.length).toBe(began.length);
    expect(began.length).toBeLessThan(80);
  });

  test('requests for the lead that is being contacted wait; other requests do not', async () => {
    const lead = await submitted([SMS]);
    const otherLead = await submitted([wait(9)], { caller_id: '3102000002' });
    const [startGate, held] = [createGate(), createGate()];
    const working = run(
      worker({
        carrier: watched(async () => {
          startGate.open();
          await held.opened;
        }),
      }),
    );
    await startGate.opened;
    const put = (id: number) =>
      env.here.company.api('put', `leads/${id}`, { body: { data: { a: 1 } } });
    let waits = true;
    const ofIt = put(lead).finally(() => (waits = false));
    const responses = [await put(otherLead)];
    for (const path of [
      `leads/${lead}`,
      `leads/${lead}/timeline`,
      'leads',
      'text_messages',
      'contacts',
    ])
      responses.push(await env.here.company.api('get', path));
    expect([waits, ...responses.map(({ status }) => status)]).toEqual([
      true,
      200,
      200,
      200,
      200,
      200,
      200,
    ]);
    held.open();
    await working;
    expect((await ofIt).status).toBe(200);
  });

  test('a stop waits for deliveries in progress and releases the other leads', async () => {
    const { schedule } = await createShop([SMS]);
    for (let n = 0; n < 30; n++)
      await submit(env.here, schedule.lead_token, { caller_id: `31020000${10 + n}` });
    const engine = startOutreach(worker({ carrier: watched(() => setTimeout(100)) }));
    await eventually(() => env.server.messages.length >= 4);
    await engine.stop();
    const sentCount = env.server.messages.length;
    expect(sentCount).toBeLessThan(30);
    expect(
      await env.world.sql(
        `SELECT count(*)::int FROM leads
          WHERE company_id = $1 AND is_live AND claim_id IS NULL AND due_at <= now()`,
        [env.here.company.id],
      ),
    ).toEqual([{ count: 30 - sentCount }]);
    await run(worker());
    expect([
      env.server.messages.length,
      new Set(env.server.messages.map(({ to }) => to)).size,
    ]).toEqual([30, 30]);
  });
});
