import { openTwilio } from '../../platform/carriers/requests';
import { DIAL, EMAIL, loadLeadRow, loadSent, SMS } from '../../support/leads';
import { outreachServers } from '../../support/outreach-servers';
import { freePort } from '../../support/process';
import type { Trouble } from '../../support/twilio-server';

const env = outreachServers();
const { smtp, worker, run, hurry, submitted } = env;

describe('a carrier that fails', () => {
  test.each<[string, Trouble]>([
    ['is silent', 'hang'],
    ['is silent and has sent it', 'hang after accepting'],
    ['breaks off', 'break'],
    ['breaks off and has sent it', 'break after accepting'],
    ['answers 500', { status: 500 }],
    ['answers 429', { status: 429, code: 20429 }],
    ['does not take the credentials', { status: 401, code: 20003 }],
  ])('%s: it is tried again later, and in the end sent once', async (_, trouble) => {
    const leads = [await submitted([SMS]), await submitted([DIAL], { caller_id: '3102000002' })];
    env.server.trouble([trouble, trouble]);
    // A timeout while the carrier still would answer makes no difference.
    const { public_url } = env;
    await run(worker({ carrier: openTwilio(env.server, { public_url, timeout_ms: 300 }) }));
    for (const lead of leads)
      expect(await loadLeadRow(env.world, lead)).toMatchObject({
        delay_reason: 'carrier',
        tries: 1,
      });
    await hurry();
    await run(worker());
    expect([env.server.messages.length, env.server.calls.length]).toEqual([1, 1]);
    expect(await loadSent(env.world, 'text_messages', leads[0]!)).toMatchObject([
      { carrier_message_id: env.server.messages[0]!.sid },
    ]);
    expect(await loadSent(env.world, 'calls', leads[1]!)).toMatchObject([
      { carrier_call_id: env.server.calls[0]!.sid },
    ]);
  });

  test('a mail server that is away is tried again later', async () => {
    const lead = await submitted([EMAIL]);
    await run(worker({ mailer: smtp(`smtp://127.0.0.1:${await freePort()}`) }));
    expect(await loadSent(env.world, 'emails', lead)).toMatchObject([
      { status: 'sending', error_code: 'unavailable' },
    ]);
    await hurry();
    await run(worker());
    expect([
      env.mail.received.length,
      (await loadSent(env.world, 'emails', lead))[0]!.status,
    ]).toEqual([1, 'sent']);
  });
});
