import { randomUUID } from 'node:crypto';
import type { Carrier } from '../../../src/platform/carriers/carrier';
import { fictionNumbers } from '../../../src/platform/carriers/inventory';
import { startTwilio, type Trouble, type TwilioServer } from '../../support/twilio-server';
import { ago, call, FROM, openTwilio, PUBLIC_URL, sms, TO } from './requests';

let server: TwilioServer;
/** For a carrier that does not answer; a timeout while it still would makes no difference. */
const HASTY = { timeout_ms: 300 };
beforeEach(async () => {
  server = await startTwilio(fictionNumbers().map(({ phone_number }) => phone_number));
});
afterEach(() => server.close());

describe('what is sent', () => {
  test('a text', async () => {
    const request = sms();
    await openTwilio(server).sendSms(request);
    const { method, path, form, headers } = server.requests[0]!;
    expect([method, path, headers['i-twilio-idempotency-token']]).toEqual([
      'POST',
      'Messages',
      request.key,
    ]);
    expect(Object.fromEntries(form)).toEqual({
      To: TO,
      From: FROM,
      Body: request.body,
      StatusCallback: `${PUBLIC_URL}/api/v1/telephony/message_status?key=${request.key}`,
    });
  });

  test('a call, its TwiML without a way out of the markup', async () => {
    const request = call({ connect_to: 'sip:a@b.example;x=</Sip><Hangup/>&"' });
    await openTwilio(server).placeCall(request);
    const { form } = server.requests[0]!;
    expect(form.get('Twiml')).toBe(
      '<Response><Dial answerOnBridge="true" callerId="+12025550199" timeout="30">' +
        '<Sip>sip:a@b.example;x=&#60;/Sip&#62;&#60;Hangup/&#62;&#38;&#34;</Sip></Dial></Response>',
    );
    expect([form.get('Timeout'), form.getAll('StatusCallbackEvent')]).toEqual([
      '30',
      ['initiated', 'ringing', 'answered', 'completed'],
    ]);
    expect(form.get('StatusCallback')).toBe(
      `${PUBLIC_URL}/api/v1/telephony/call_status?key=${request.key}`,
    );
  });

  test.each([
    [{ connect_to: null }, undefined],
    [{ connect_to: null, detect_machine: 'at_once' }, 'Enable'],
    [{ detect_machine: 'for_message' }, 'DetectMessageEnd'],
  ] as const)('a call that asks what follows its answer: %j', async (more, detection) => {
    const request = call(more);
    await openTwilio(server).placeCall(request);
    const { form } = server.requests.at(-1)!;
    expect(form.get('Twiml')).toBeNull();
    expect(form.get('Url')).toBe(`${PUBLIC_URL}/api/v1/telephony/answer?key=${request.key}`);
    expect(form.get('MachineDetection')).toBe(detection ?? null);
  });

  test('a purchase tells where texts and calls of the number go', async () => {
    await openTwilio(server).buyNumber({ key: randomUUID(), phone_number: '+12125550110' });
    const hooks = `${PUBLIC_URL}/api/v1/telephony`;
    expect(server.numbers).toMatchObject([
      {
        sms_url: `${hooks}/sms`,
        voice_url: `${hooks}/voice`,
        status_callback: `${hooks}/voice_status`,
      },
    ]);
  });
});

describe('at most once', () => {
  test.each<Trouble>(['break after accepting', 'hang after accepting'])(
    'after «%s» a retry leaves exactly one text, call and number',
    async (trouble) => {
      const [hasty, carrier] = [openTwilio(server, HASTY), openTwilio(server)];
      const began = new Date();
      const [text, ring, number] = [
        sms(),
        call(),
        { key: randomUUID(), phone_number: '+12125550110' },
      ];
      const tries = [
        (by: Carrier, triedAt?: Date) => by.sendSms({ ...text, tried_at: triedAt }),
        (by: Carrier, triedAt?: Date) => by.placeCall({ ...ring, tried_at: triedAt }),
        (by: Carrier, triedAt?: Date) => by.buyNumber({ ...number, tried_at: triedAt }),
      ];
      for (const ask of tries) {
        server.trouble([trouble]);
        expect(await ask(hasty)).toMatchObject({
          ok: false,
          retryable: true,
          maybe_sent: true,
          code: 'unavailable',
        });
        expect(await ask(carrier, began)).toMatchObject({ ok: true });
      }
      expect([server.messages.length, server.calls.length, server.numbers.length]).toEqual([
        1, 1, 1,
      ]);
    },
  );

  test('a retry of what never got through sends it', async () => {
    server.trouble(['break']);
    const request = sms();
    expect(await openTwilio(server).sendSms(request)).toMatchObject({
      ok: false,
      retryable: true,
      maybe_sent: true,
    });
    expect(await openTwilio(server).sendSms({ ...request, tried_at: ago(50) })).toMatchObject({
      ok: true,
    });
    expect(server.messages).toHaveLength(1);
  });

  test('nothing is sent while it cannot be known whether it was', async () => {
    for (const trouble of [
      'hang',
      'break',
      { status: 503 },
      { status: 400, code: 20001 },
      { status: 404, code: 20404 },
    ] satisfies Trouble[]) {
      server.trouble([trouble], 'GET');
      expect(await openTwilio(server, HASTY).sendSms(sms({ tried_at: ago(50) }))).toMatchObject({
        ok: false,
        retryable: true,
        maybe_sent: true,
      });
    }
    expect(server.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test('an older, another or an incoming text of the same words is not the first try', async () => {
    const request = sms({ tried_at: ago(1000) });
    const message = {
      sid: 'SM1',
      to: TO,
      from: FROM,
      body: request.body,
      status: 'delivered',
      direction: 'outbound-api',
      date_created: new Date().toUTCString(),
    };
    server.messages.push(
      { ...message, date_created: ago(60_000).toUTCString() },
      { ...message, body: 'Other words' },
      { ...message, direction: 'inbound' },
      { ...message, to: '+13105550151' },
      { ...message, from: '+12025550198' },
    );
    expect(await openTwilio(server).sendSms(request)).toMatchObject({
      ok: true,
      carrier_id: expect.not.stringMatching(/^SM1$/),
    });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('an earlier try that failed meanwhile is answered as failed', async () => {
    const request = sms({ to: '+13105550107' });
    await openTwilio(server).sendSms(request);
    expect(await openTwilio(server).sendSms({ ...request, tried_at: ago(50) })).toMatchObject({
      ok: true,
      status: 'undelivered',
      code: 'unreachable',
    });
  });
});

describe('a call that is to end', () => {
  test('is ended by its sid; one that is over, is not live', async () => {
    server.calls.push({ sid: 'CA1', status: 'in-progress' });
    expect(await openTwilio(server).endCall('CA1')).toEqual({ ok: true });
    expect([
      server.requests.at(-1)!.path,
      Object.fromEntries(server.requests.at(-1)!.form),
    ]).toEqual(['Calls/CA1', { Status: 'completed' }]);
    expect(await openTwilio(server).endCall('CA1')).toMatchObject({
      ok: false,
      retryable: false,
      code: 'not_live',
    });
  });

  test.each<Trouble>(['hang', 'break', { status: 503 }])(
    'while the carrier does not answer («%s») may be tried again',
    async (trouble) => {
      server.trouble([trouble]);
      expect(await openTwilio(server, HASTY).endCall('CA1')).toMatchObject({
        ok: false,
        retryable: true,
      });
    },
  );
});

describe('a number that is given back', () => {
  const bought = async () => {
    const outcome = await openTwilio(server).buyNumber({
      key: randomUUID(),
      phone_number: '+12125550110',
    });
    return outcome.ok ? outcome.carrier_id : '';
  };

  test('is deleted by its sid, and for sale again', async () => {
    const sid = await bought();
    expect(await openTwilio(server).releaseNumber(sid)).toEqual({ ok: true });
    expect(server.requests.at(-1)).toMatchObject({
      method: 'DELETE',
      path: `IncomingPhoneNumbers/${sid}`,
    });
    expect(server.numbers).toEqual([]);
    expect(await bought()).not.toBe(sid);
  });

  test.each<Trouble>(['break after accepting', 'hang after accepting'])(
    'after «%s» is given back by the next try',
    async (trouble) => {
      const sid = await bought();
      server.trouble([trouble]);
      expect(await openTwilio(server, HASTY).releaseNumber(sid)).toMatchObject({
        ok: false,
        retryable: true,
        code: 'unavailable',
      });
      expect(await openTwilio(server).releaseNumber(sid)).toEqual({ ok: true });
    },
  );

  test('stays while the carrier is down, or does not know the account', async () => {
    const sid = await bought();
    for (const trouble of [
      { status: 503 },
      { status: 429 },
      { status: 401, code: 20003 },
    ] satisfies Trouble[]) {
      server.trouble([trouble]);
      expect(await openTwilio(server).releaseNumber(sid)).toMatchObject({
        ok: false,
        retryable: true,
      });
    }
    server.trouble([{ status: 404 }, { status: 404 }]);
    expect(await openTwilio(server).releaseNumber(sid)).toMatchObject({
      ok: false,
      code: 'not_found',
    });
    expect(server.numbers).toHaveLength(1);
  });
});
