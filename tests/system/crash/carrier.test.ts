import type { Mailer } from '../../../src/platform/mail/mailer';
import { eventually, startEngineProcess } from '../../support/engine-process';
import { kill } from '../../support/job-process';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  loadLeadRow,
  ownNumber,
  loadSent,
  SMS,
  submit,
  wait,
} from '../../support/leads';
import { LEASE_MS, outreachServers } from '../../support/outreach-servers';
import type { Resource, Trouble } from '../../support/twilio-server';

const env = outreachServers();
const {
  smtp,
  worker,
  run,
  settleAll,
  hurry,
  createShop,
  submitted,
  bodies,
  watched,
  breakWorkers,
  dying,
  expectBothSent,
} = env;

describe('a process that is killed while something is on its way', () => {
  test.each<[string, Trouble[]]>([
    ['before the carrier has answered', ['hang after accepting', 'hang after accepting']],
    ['between the answer of the carrier and the record of it', []],
  ])('%s: the carrier sees it once, and the next worker records it', async (_, troubles) => {
    const environment = {
      CARRIER: 'twilio',
      TWILIO_ACCOUNT_SID: env.server.account_sid,
      TWILIO_AUTH_TOKEN: env.server.auth_token,
      TWILIO_BASE_URL: env.server.url,
      PUBLIC_URL: env.public_url,
    };
    const child = await startEngineProcess(env.here, LEASE_MS, environment);
    const held = await env.world.deps.database.streams.connect();
    if (troubles.length === 0) await held.query('BEGIN; LOCK TABLE lead_logs IN SHARE MODE');
    env.server.trouble(troubles);
    const leadIds: number[] = [];
    // Both in one batch.
    const soon = new Date(Date.now() + 2_000);
    for (const [n, action] of [SMS, DIAL].entries()) {
      const { schedule } = await createShop([action, wait(9)]);
      leadIds.push(
        ...(await fillSchedule(env.here, schedule.id, {
          first: 13_102_000_001 + n,
          count: 1,
          now: soon,
        })),
      );
    }
    await eventually(() => env.server.messages.length + env.server.calls.length === 2);
    if (troubles.length === 0) await eventually(blocked);
    await kill(child);
    await held.query('ROLLBACK');
    held.release();
    await settleAll();
    expect([env.server.messages.length, env.server.calls.length]).toEqual([1, 1]);
    await expectBothSent(leadIds);
    for (const lead of leadIds)
      expect(await loadLeadRow(env.world, lead)).toMatchObject({
        status: 'waiting',
        contact_attempts: 1,
        claim_id: null,
      });
    expect(await env.server.settle()).toEqual([200, 200]);
  });

  const blocked = async () =>
    (
      await env.world.sql(
        `SELECT FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%FROM record_steps(%'`,
      )
    ).length >= 2;
  test('in the first try, or in one after a refusal: it is not sent twice', async () => {
    const lead = await submitted([SMS, { ...SMS, body: 'Next' }]);
    env.server.trouble([{ status: 429, code: 20429 }]);
    await run(worker());
    expect([env.server.messages.length, (await loadLeadRow(env.world, lead)).delay_reason]).toEqual(
      [0, 'carrier'],
    );
    await hurry();
    await run(worker({ carrier: dying() }));
    expect(bodies()).toEqual(['Hello']);
    await settleAll();
    expect(bodies()).toEqual(['Hello', 'Next']);
    expect(
      (await loadSent(env.world, 'text_messages', lead)).map(
        ({ carrier_message_id }) => carrier_message_id,
      ),
    ).toEqual(env.server.messages.map(({ sid }) => sid).toReversed());
  });

  test('after numbers, data and action changed: the message is found as sent', async () => {
    await ownNumber(env.here, env.here.company, String(14_155_550_110 + env.companies));
    const { schedule } = await createShop([{ ...SMS, body: 'Hi {{first_name}}' }]);
    const to = async (callerId: string) =>
      (await submit(env.here, schedule.lead_token, { caller_id: callerId, first_name: 'Ann' })).body
        .id as number;
    const lead = await to('6172000001');
    await run(worker({ carrier: dying() }));
    const [{ sid, from }] = env.server.messages as [Resource];
    const used = String(from).slice(1);
    await env.here.company.api('put', `leads/${lead}`, { body: { data: { first_name: 'Zoë' } } });
    // The number that was used is now not the one that waits longest.
    await env.world.sql(
      `UPDATE numbers SET last_assigned_at = CASE WHEN phone_number = $2 THEN now() END
        WHERE company_id = $1`,
      [env.here.company.id, used],
    );
    await settleAll();
    expect(env.server.messages).toHaveLength(1);
    expect(await loadSent(env.world, 'text_messages', lead)).toMatchObject([
      { body: 'Hi Ann', carrier_message_id: sid, from_number: used },
    ]);
    const [numberRow] = await env.world.sql<{ id: string }>(
      'SELECT id FROM numbers WHERE company_id = $1 AND phone_number = $2',
      [env.here.company.id, used],
    );
    expect((await loadLeadRow(env.world, lead)).sms_number_id).toBe(numberRow!.id);
  });

  test('after the carrier has reported: it is not asked, and the report is recorded', async () => {
    const leads = [
      await submitted([SMS, wait(9)]),
      await submitted([DIAL, wait(9)], { caller_id: '3102000002' }),
    ];
    // Both are on their way before either dies.
    const both = watched(async (phase) => {
      if (phase !== 'after') return;
      await eventually(() => env.server.requests.length === 2);
      await breakWorkers();
    });
    await run(worker({ carrier: both }));
    expect(await env.server.settle()).toEqual([200, 200]);
    const requestCount = env.server.requests.length;
    await settleAll();
    expect([
      env.server.messages.length,
      env.server.calls.length,
      env.server.requests.length,
    ]).toEqual([1, 1, requestCount]);
    await expectBothSent(leads);
    for (const lead of leads)
      expect(await loadLeadRow(env.world, lead)).toMatchObject({
        status: 'waiting',
        contact_attempts: 1,
      });
  });

  test('an e-mail that may have been sent becomes unknown and is not sent again', async () => {
    const lead = await submitted([EMAIL, { ...EMAIL, subject: 'Next' }]);
    const inner = smtp();
    const send: Mailer['send'] = async (mail) => inner.send(mail).finally(breakWorkers);
    await run(worker({ mailer: { ...inner, send } }));
    await settleAll();
    expect(env.mail.received.map((text) => /^Subject: (.*)\r$/m.exec(text)![1])).toEqual([
      'News',
      'Next',
    ]);
    expect((await loadSent(env.world, 'emails', lead)).map(({ status }) => status)).toEqual([
      'unknown',
      'sent',
    ]);
  });
});
