import { DIAL, EMAIL, loadLeadRow, runEngine, loadSent, SMS } from '../../support/leads';
import { outreachAtNoon } from '../../support/outreach-at-noon';

type Fields = Record<string, unknown>;

const env = outreachAtNoon();
const { ok, submitted, startLead, until, hours, events, status } = env;

describe('what the carrier and the mailer say', () => {
  test.each<[string, Fields, Fields, string[]]>([
    [
      'a number that is none',
      SMS,
      { caller_id: '2125550101' },
      ['sms_failed: failed: The sandbox was given a number that means: invalid_number.'],
    ],
    [
      'a landline',
      SMS,
      { caller_id: '2125550102' },
      ['sms_failed: failed: The sandbox was given a number that means: not_a_mobile.'],
    ],
    [
      'a recipient who sent STOP to the carrier',
      SMS,
      { caller_id: '2125550103' },
      ['sms_failed: failed: The sandbox was given a number that means: opted_out.'],
    ],
    ['a busy line', DIAL, { caller_id: '2125550105' }, ['call_placed: busy']],
    ['no answer', DIAL, { caller_id: '2125550106' }, ['call_placed: no_answer']],
    ['a call that fails', DIAL, { caller_id: '2125550107' }, ['call_placed: failed: unreachable']],
    [
      'a text that does not arrive',
      SMS,
      { caller_id: '2125550107' },
      ['sms_sent: undelivered: unreachable'],
    ],
    [
      'a text taken for spam',
      SMS,
      { caller_id: '2125550108' },
      ['sms_sent: undelivered: filtered'],
    ],
    [
      'a mailbox that is none',
      EMAIL,
      { email: 'bounce@example.com' },
      ['email_failed: failed: The sandbox has no mailbox bounce.'],
    ],
    ['no e-mail address', EMAIL, {}, ['skipped: no_email']],
    [
      'a text without a word once its tokens are in',
      { ...SMS, body: ' {{none}} ' },
      {},
      ['sms_failed: the text is empty once its tokens are filled in'],
    ],
    [
      'a text that its tokens make too long',
      { ...SMS, body: '{{long}}' },
      { long: 'x'.repeat(1601) },
      [
        'sms_failed: the text has 1601 characters once its tokens are filled in; ' +
          'at most 1600 can be sent',
      ],
    ],
  ])('%s is logged, and the schedule goes on', async (_, action, fields, words) => {
    const { lead } = await startLead(
      [action, { action_type: 'webhook', url: 'https://hooks.example' }],
      fields,
    );
    expect(await events(lead)).toEqual([
      ...words,
      'webhook_queued',
      'left_schedule: completed',
      expect.stringMatching(/^ended/),
    ]);
  });

  test.each<[string, 'text_messages' | 'calls' | 'emails', Fields, Fields]>([
    ['carrier', 'text_messages', SMS, { caller_id: '2125550104' }],
    ['carrier', 'calls', DIAL, { caller_id: '2125550104' }],
    ['mailer', 'emails', EMAIL, { email: 'unavailable@example.com' }],
  ])(
    'a %s that is down (%s) is tried eight times with growing delays, then skipped',
    async (_, table, action, fields) => {
      const { lead } = await startLead(
        [action, { action_type: 'webhook', url: 'https://hooks.example' }],
        { email: 'ann@example.com', ...fields },
      );
      const due: number[] = [];
      for (
        let row = await loadLeadRow(env.world, lead);
        row.due_at;
        row = await loadLeadRow(env.world, lead)
      ) {
        expect([row.delay_reason, (await loadSent(env.world, table, lead))[0]!.status]).toEqual([
          'carrier',
          'sending',
        ]);
        due.push((row.due_at.getTime() - env.time.read().getTime()) / 1000);
        await until(row.due_at.toISOString());
      }
      expect(due).toEqual([15, 30, 60, 120, 240, 480, 960]);
      expect((await loadSent(env.world, table, lead))[0]).toMatchObject({
        status: 'failed',
        error_code: 'unavailable',
      });
      expect(await events(lead)).toContain('webhook_queued');
    },
  );

  test('a delivery in retry is given up when the lead leaves its schedule', async () => {
    const { lead } = await startLead([SMS], { caller_id: '2125550104', expires_in: 1 });
    await hours(1);
    expect([
      await status(lead),
      (await loadSent(env.world, 'text_messages', lead))[0]!.status,
    ]).toEqual(['expired', 'failed']);
  });

  test('a retry uses the data that the lead has by then', async () => {
    const { lead } = await startLead([{ ...SMS, body: 'Hi {{first_name}}' }], {
      caller_id: '2125550104',
      first_name: 'Ann',
    });
    await ok('put', `leads/${lead}`, { data: { first_name: 'Zoë' } });
    await hours(1);
    expect(await loadSent(env.world, 'text_messages', lead)).toMatchObject([
      { body: 'Hi Zoë', status: 'sending' },
    ]);
  });

  test('leads of a company without a number are not contacted and end as a failure', async () => {
    const { lead } = await submitted([SMS, DIAL]);
    await env.world.sql('UPDATE numbers SET deleted_at = now() WHERE company_id = $1', [
      env.here.company.id,
    ]);
    await runEngine(env.here);
    expect([await events(lead), await status(lead)]).toEqual([
      ['skipped: no_number', 'skipped: no_number', 'left_schedule: completed', 'ended: failure'],
      'failure',
    ]);
  });
});
