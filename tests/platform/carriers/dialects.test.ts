import { randomUUID } from 'node:crypto';
import type { Carrier } from '../../../src/platform/carriers/carrier';
import { DIALECTS, listConsequences, selectDialect } from '../../../src/platform/carriers/dialects';
import { DIALECT_NAMES, type DialectName } from '../../../src/platform/carriers/dialects/dialect';
import { readTwiml } from '../../support/twiml-caller';
import { startTwilio, type Trouble, type TwilioServer } from '../../support/twilio-server';
import { ago, call, FROM, openTwilio, PUBLIC_URL, sms, TO } from './requests';

// Each dialect against a model of its carrier, which is made from the carrier's documentation.

let server: TwilioServer;
const start = async (dialect: DialectName) => (server = await startTwilio([TO], dialect));
afterEach(() => server.close());

const HASTY = { timeout_ms: 300 };
const now = () => new Date().toUTCString();
const lastPost = () => server.requests.findLast(({ method }) => method === 'POST')!;
const hook = (name: string) => `${PUBLIC_URL}/api/v1/telephony/${name}`;

describe.each(DIALECT_NAMES)('%s', (dialect) => {
  const { label, capabilities, refusals, takes_twiml } = DIALECTS[dialect];
  let carrier: Carrier;
  beforeEach(async () => {
    await start(dialect);
    carrier = openTwilio(server);
  });

  const unsupported = {
    ok: false,
    retryable: false,
    code: 'not_supported',
    message: expect.stringContaining(label),
  };

  test('places a call that is connected, or that asks what to do', async () => {
    const connecting = call();
    expect(await carrier.placeCall(connecting)).toMatchObject({ ok: true, status: 'queued' });
    const { form } = lastPost();
    const twiml = form.get('Twiml') ?? form.get('Texml');
    expect([form.get('To'), form.get('From'), form.get('StatusCallback')]).toEqual([
      TO,
      FROM,
      `${hook('call_status')}?key=${connecting.key}`,
    ]);
    if (takes_twiml)
      expect(readTwiml(twiml!, dialect).children).toMatchObject([
        { name: 'Dial', children: [{ name: 'Number', text: connecting.connect_to }] },
      ]);
    else expect(form.get('Url')).toBe(`${hook('answer')}?key=${connecting.key}`);
    const asking = call({ connect_to: null });
    expect(await carrier.placeCall(asking)).toMatchObject({ ok: true });
    expect(lastPost().form.get('Url')).toBe(`${hook('answer')}?key=${asking.key}`);
  });

  test('is asked about machines only if it says who answers', async () => {
    await carrier.placeCall(call({ detect_machine: 'for_message' }));
    const { form } = lastPost();
    expect(form.get('MachineDetection')).toBe(capabilities.detection ? 'DetectMessageEnd' : null);
    expect(form.has('Url')).toBe(capabilities.detection || !takes_twiml);
  });

  test.each<Trouble>(['break after accepting', 'hang after accepting'])(
    'after «%s» a retry leaves exactly one call, among those of others',
    async (trouble) => {
      const request = call();
      const began = ago(100);
      const stranger = { direction: 'outbound-api', date_created: now(), status: 'queued' };
      server.calls.push({ ...stranger, sid: 'CA9', from: FROM, to: '+13105550151' });
      server.trouble([trouble]);
      expect(await openTwilio(server, HASTY).placeCall(request)).toMatchObject({
        ok: false,
        maybe_sent: true,
      });
      const outcome = await carrier.placeCall({ ...request, tried_at: began });
      expect(outcome).toMatchObject({ ok: true, carrier_id: server.calls[0]!.sid });
      expect(server.calls).toHaveLength(2);
    },
  );

  test('ends a call; one that is over is not live', async () => {
    server.calls.push({ sid: 'CA1', status: 'in-progress' });
    expect(await carrier.endCall('CA1')).toEqual({ ok: true });
    expect(server.calls[0]!.status).toBe('completed');
    expect(await carrier.endCall('CA1')).toMatchObject({ ok: false, code: 'not_live' });
  });

  test('stops a leg that rings and leaves one that is answered, or is not asked', async () => {
    server.calls.push({ sid: 'CA1', status: 'ringing' }, { sid: 'CA2', status: 'in-progress' });
    const stopped = [await carrier.stopRinging('CA1'), await carrier.stopRinging('CA2')];
    expect(stopped).toMatchObject(
      capabilities.cancel_leg
        ? [{ ok: true }, { ok: false, code: 'not_live' }]
        : [unsupported, unsupported],
    );
    expect(server.calls[1]!.status).toBe('in-progress');
    expect(server.requests).toHaveLength(capabilities.cancel_leg ? 2 : 0);
  });

  test('records a leg and plays keys to it, or is not asked', async () => {
    server.calls.push({ sid: 'CA1', status: 'in-progress' });
    const keys = { leg_id: 'CA1', digits: '1w2', conference: 'c-1' };
    const actions = [
      [capabilities.record_leg, () => carrier.startRecording('CA1', hook('voicemail'))],
      [capabilities.conference, () => carrier.playKeys(keys)],
    ] as const;
    for (const [isAble, action] of actions) {
      server.requests.splice(0);
      expect(await action()).toEqual(isAble ? { ok: true } : unsupported);
      expect(server.requests).toHaveLength(isAble ? 1 : 0);
    }
    if (!capabilities.conference) return;
    const [play, dial] = readTwiml(String(server.calls[0]!.twiml), dialect).children;
    expect([play!.attributes, dial!.children[0]!.text]).toEqual([{ digits: '1w2' }, 'c-1']);
  });

  test('adds up the legs of a call alone, or says that it cannot', async () => {
    const leg = { date_created: now(), status: 'completed', price: '-0.01', price_unit: 'USD' };
    server.calls.push(
      { ...leg, sid: 'CA8', parent_call_sid: 'CA7' },
      { ...leg, sid: 'CA2', parent_call_sid: 'CA1' },
      { ...leg, sid: 'CA9', parent_call_sid: null },
      { ...leg, sid: 'CA1', parent_call_sid: null },
    );
    const legs = await carrier.findLegs('CA1');
    if (refusals.legs) return expect(legs).toEqual(unsupported);
    return expect(legs.ok && legs.legs.map(({ carrier_call_id }) => carrier_call_id)).toEqual([
      'CA1',
      'CA2',
    ]);
  });

  test('sends texts and sells numbers, or refuses by name and asks nothing', async () => {
    const number = { key: randomUUID(), phone_number: TO };
    const outcomes = [
      await carrier.sendSms(sms()),
      await carrier.searchNumbers({ country: 'US' }),
      await carrier.buyNumber(number),
      await carrier.releaseNumber('PN1'),
    ];
    expect(outcomes).toEqual(
      refusals.texts
        ? Array(4).fill(unsupported)
        : Array(4).fill(expect.objectContaining({ ok: true })),
    );
    if (refusals.texts) expect(server.requests).toEqual([]);
  });

  test('rejects other credentials, and no answer repeats them', async () => {
    const outcome = await openTwilio(server, { auth_token: 'not-the-token' }).placeCall(call());
    expect(outcome).toMatchObject({ ok: false, retryable: true, code: 'unauthorized' });
    expect(JSON.stringify(outcome)).not.toContain('not-the-token');
  });

  test('has an error code of its own as text', async () => {
    const code = dialect === 'telnyx' ? '10015' : '21408';
    const text = JSON.stringify(
      dialect === 'telnyx' ? { errors: [{ code, title: 'No' }] } : { code, message: 'No' },
    );
    server.trouble([{ status: 422, text }]);
    expect(await carrier.placeCall(call())).toEqual({
      ok: false,
      retryable: false,
      code: `${dialect === 'telnyx' ? 'telnyx' : 'twilio'}_${code}`,
      message: `The carrier answered 422 (${code}): No`,
    });
  });
});

describe('Telnyx', () => {
  beforeEach(() => start('telnyx'));

  test('may accept an order without its name: the call is looked up, or asked for later', async () => {
    const stranger = { direction: 'outbound-api', date_created: now(), status: 'queued' };
    const accepted = {
      status: 200,
      text: JSON.stringify({ from: FROM, to: TO, status: 'queued' }),
    };
    server.trouble([accepted], 'POST');
    server.calls.push(
      { ...stranger, sid: 'CA9', from: FROM, to: '+13105550151' },
      { ...stranger, sid: 'CA1', from: FROM, to: TO },
    );
    expect(await openTwilio(server).placeCall(call())).toMatchObject({
      ok: true,
      carrier_id: 'CA1',
    });
    server.calls.pop();
    server.trouble([accepted], 'POST');
    expect(await openTwilio(server).placeCall(call())).toMatchObject({
      ok: false,
      retryable: true,
      maybe_sent: true,
    });
  });

  test('rings no longer than it can', async () => {
    await openTwilio(server).placeCall(call({ timeout_seconds: 600 }));
    const { form } = lastPost();
    expect(form.get('Timeout')).toBe('120');
    const [dial] = readTwiml(form.get('Texml')!, 'telnyx').children;
    expect(dial!.attributes.timeout).toBe('120');
  });
});

describe('what an installation has to do without', () => {
  beforeEach(() => start('twilio'));

  test('is nothing at Twilio, and a sentence for each capability that is missing', () => {
    for (const name of DIALECT_NAMES) {
      const { capabilities } = DIALECTS[name];
      const missing = Object.values(capabilities).filter((isAble) => !isAble);
      expect(listConsequences(capabilities)).toHaveLength(missing.length);
    }
    expect(listConsequences(DIALECTS.twilio.capabilities)).toEqual([]);
  });

  test.each([true, false])('a setting decides whether it asks for keys: %s', (canWhisper) => {
    for (const dialect of DIALECT_NAMES)
      expect(selectDialect({ dialect, can_whisper: canWhisper }).capabilities).toEqual({
        ...DIALECTS[dialect].capabilities,
        whisper: canWhisper,
      });
  });

  test('one buyer rings at a time where the legs are not reported', () => {
    for (const dialect of DIALECT_NAMES)
      expect(openTwilio(server, { dialect }).max_legs).toBe(dialect === 'somleng' ? 1 : 10);
  });
});
