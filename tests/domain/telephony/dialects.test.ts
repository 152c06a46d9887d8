import { DIALECTS } from '../../../src/platform/carriers/dialects';
import { DIALECT_NAMES, type DialectName } from '../../../src/platform/carriers/dialects/dialect';
import { lookUpCosts } from '../../../src/domain/calls/look-up-costs';
import { MODELS } from '../../support/carrier-models';
import type { Fields } from '../../support/records';
import { switchboard, type Bought } from '../../support/switchboard';
import { readTwiml } from '../../support/twiml-caller';
import { useDialect } from '../../support/use-twilio';
import { DIAL, openShop, ownNumber, runEngine, submit } from '../../support/leads';

// Calls through the carrier of each dialect, played by a model that is made from its documentation:
// it throws for what the carrier would not read.

const MONDAY = '2026-06-01T16:00:00Z';
const PERSON = '+13105550123';

interface CandidateReason {
  buyer_id: number;
  reason: string | null;
}

function openDialect(dialect: DialectName) {
  const here = useDialect(dialect, { clock: MONDAY });
  const { world } = here;
  let on: ReturnType<typeof switchboard>;
  beforeEach(() => void (on = switchboard(world, world.clock, here.server)));
  const loadReasons = async (sid: string) => {
    const { id } = await on.loadCall({ sid });
    const [decision] = (await on.ok('get', `calls/${id}/decision`)).decisions;
    const { candidates } = decision as { candidates: CandidateReason[] };
    return Object.fromEntries(candidates.map(({ buyer_id, reason }) => [buyer_id, reason]));
  };
  const order = (body: Fields) =>
    world.api('post', 'calls', { body: { to: PERSON, from: on.companyNumber, ...body } });
  const lastOrder = () => here.server.requests.findLast(({ method }) => method === 'POST')!.form;
  return {
    here,
    world,
    loadReasons,
    order,
    lastOrder,
    get on() {
      return on;
    },
  };
}

const answering = (...buyers: Bought[]) =>
  Object.fromEntries(buyers.map(({ number }) => [number, { does: 'answer', talks: 45 } as const]));

describe.each(DIALECT_NAMES)('calls through %s', (dialect) => {
  const { capabilities, takes_twiml } = DIALECTS[dialect];
  const env = openDialect(dialect);
  const { world, loadReasons, order, lastOrder } = env;

  test('go on to the next buyer, who pays for the time it talked', async () => {
    const { on } = env;
    const [first, second] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([first, second], { greeting_message: 'Hello' });
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { [first.number]: { does: 'busy' }, ...answering(second) },
    });
    expect([played.heard, played.connected]).toEqual([['Hello'], second.number]);
    const { id } = await on.loadCall(played);
    expect((await on.ok('get', `calls/${id}`)).call).toMatchObject({
      status: 'completed',
      buyer_id: second.id,
      answered_duration: 45,
      buyer_converted: true,
    });
    expect(await on.counts(second)).toEqual([1, 1, 1, 0]);
    expect(await on.counts(first)).toEqual([1, 0, 0, 0]);
    expect(await on.slots()).toBe(0);
  });

  test('pass over buyers that need what the carrier cannot do', async () => {
    const { on } = env;
    const pressing = await on.buyer({ tier: 1, press_one_to_accept: true });
    const toned = await on.buyer({ tier: 2, dtmf_tones: 'w1' });
    const atSip = await on.buyer({ tier: 3, dtmf_tones: '2', number: 'sip:desk@example.com' });
    const plain = await on.buyer({ tier: 4 });
    await on.offer([pressing, toned, atSip, plain]);
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { ...answering(plain), [pressing.number]: { does: 'answer', key: '2' } },
    });
    expect(played.connected).toBe(plain.number);
    expect(played.prompts).toHaveLength(capabilities.whisper ? 1 : 0);
    expect(await loadReasons(played.sid)).toEqual({
      [pressing.id]: capabilities.whisper ? null : 'key_press_unavailable',
      [toned.id]: capabilities.tones ? null : 'tones_unavailable',
      [atSip.id]: capabilities.tones ? null : 'tones_unavailable',
      [plain.id]: null,
    });
    const [toneDial] = played.dials.filter(({ children }) => children[0]!.text === toned.number);
    expect(toneDial?.children[0]!.attributes.sendDigits).toBe(
      capabilities.tones ? 'w1' : undefined,
    );
  });

  test('ring a group at once, or one after the other, and know who had the call', async () => {
    const { on } = env;
    const members = [await on.buyer(), await on.buyer()];
    await on.atOnce(members);
    const [first, second] = members as [Bought, Bought];
    const played = await on.placeCall({ to: on.companyNumber, buyers: answering(second) });
    const isOneByOne = !capabilities.leg_callbacks;
    expect(played.rung.flat()).toContain(second.number);
    expect(played.rung.every((round) => round.length === (isOneByOne ? 1 : 2))).toBe(true);
    const { id } = await on.loadCall(played);
    expect((await on.ok('get', `calls/${id}`)).call.buyer_id).toBe(second.id);
    const reasons = Object.values(await loadReasons(played.sid));
    expect(reasons.includes('not_rung')).toBe(isOneByOne);
    expect(await on.counts(first)).toEqual([expect.any(Number), 0, 0, 0]);
  });

  test('record all buyers, or none where the carrier cannot', async () => {
    const { on } = env;
    const buyer = await on.buyer({ record_calls: true });
    await on.offer([buyer]);
    const played = await on.placeCall({ to: on.companyNumber, buyers: answering(buyer) });
    expect(played.dials[0]!.attributes.record).toBe(
      capabilities.record_dial ? 'record-from-answer' : undefined,
    );
    expect((await on.loadCall(played)).recording_url === null).toBe(!capabilities.record_dial);
  });

  test('end with the fallback, which the carrier can read', async () => {
    const { on } = env;
    await on.offer([await on.buyer()], { fallback_type: 'voicemail', fallback_message: 'Sorry' });
    const played = await on.placeCall({ to: on.companyNumber });
    expect([played.heard, played.voicemail]).toEqual([['Sorry'], true]);
  });

  test('accept keys for a connected buyer, or refuse them by name', async () => {
    const { on, here } = env;
    await on.offer([await on.buyer()]);
    const fromCaller = { CallSid: `CA${world.company.id}`, From: PERSON, To: on.companyNumber };
    const { children } = await on.twiml(on.hook('voice'), { ...fromCaller, CallStatus: 'ringing' });
    const leg = `${fromCaller.CallSid}-leg`;
    const { statusCallback } = children[0]!.children[0]!.attributes;
    if (statusCallback) await on.post(statusCallback, { CallSid: leg, CallStatus: 'in-progress' });
    here.server.calls.push({ sid: leg, status: 'in-progress' });
    const { id } = await on.loadCall({ sid: fromCaller.CallSid });
    const pressed = await world.api('post', 'calls/send_key_press', { body: { id, digits: '1' } });
    if (!capabilities.conference)
      return expect([pressed.status, pressed.body.code, pressed.body.errors]).toEqual([
        409,
        'carrier_refused',
        { id: [expect.stringContaining('plays none')] },
      ]);
    expect(pressed.status).toBe(200);
    const twiml = String(here.server.calls.at(-1)!.twiml);
    return expect(readTwiml(twiml, dialect).children.map(({ name }) => name)).toEqual([
      'Play',
      'Dial',
    ]);
  });

  test('to people are routed when they answer', async () => {
    const { on } = env;
    const buyer = await on.buyer();
    const offerId = await on.offer([buyer]);
    const { call } = (await order({ offer_id: offerId })).body;
    const form = lastOrder();
    expect(form.get('MachineDetection')).toBe(capabilities.detection ? 'Enable' : null);
    const answered = await on.twiml(form.get('Url')!, {
      CallSid: call.call_sid,
      From: on.companyNumber,
      ...(capabilities.detection && { AnsweredBy: 'human' }),
    });
    expect(answered.children[0]!.children[0]!.text).toBe(buyer.number);
    const answeredBy = capabilities.detection ? 'human' : 'unknown';
    expect((await on.ok('get', `calls/${call.id}`)).call.answered_by).toBe(answeredBy);
  });

  test('to people are not ordered with machines in mind where none is detected', async () => {
    const { on } = env;
    const offerId = await on.offer([await on.buyer()]);
    const leaving = { machine_action: 'leave_message', machine_message: 'Hello' };
    const res = await order({ offer_id: offerId, ...leaving });
    if (capabilities.detection) expect(res.status).toBe(201);
    else
      expect([res.status, res.body.errors]).toEqual([
        422,
        { machine_action: [expect.stringContaining('detects no answering machines')] },
      ]);
    expect((await order({ offer_id: offerId, machine_action: 'connect' })).status).toBe(201);
  });

  test('of a schedule are connected to its number', async () => {
    const { on, here } = env;
    await ownNumber(world, world.company, on.companyNumber.slice(1));
    const { schedule } = await openShop(world, [{ ...DIAL, machine_action: 'hang_up' }]);
    await submit(world, schedule.lead_token, { caller_id: '3105550177' });
    await runEngine(world);
    const form = lastOrder();
    const CallSid = String(here.server.calls[0]!.sid);
    const answered = { CallSid, From: form.get('From')!, AnsweredBy: 'human' };
    const twiml =
      takes_twiml && !capabilities.detection
        ? readTwiml(form.get('Texml') ?? form.get('Twiml')!, dialect)
        : await on.twiml(form.get('Url')!, answered);
    expect(twiml.children[0]!.children[0]!.text).toBe(DIAL.connect_to);
    expect(form.get('MachineDetection')).toBe(capabilities.detection ? 'Enable' : null);
  });

  test('of a schedule without an action for machines are connected by TwiML or URL', async () => {
    const { on, here } = env;
    await ownNumber(world, world.company, on.companyNumber.slice(1));
    const { schedule } = await openShop(world, [DIAL]);
    await submit(world, schedule.lead_token, { caller_id: '3105550178' });
    await runEngine(world);
    const form = lastOrder();
    expect(form.has('Url')).toBe(!takes_twiml);
    if (takes_twiml) return;
    const report = { CallSid: String(here.server.calls[0]!.sid), From: form.get('From')! };
    const ask = () => on.twiml(form.get('Url')!, report);
    // The carrier may ask twice.
    for (const { children } of [await ask(), await ask()])
      expect(children[0]!.children[0]!.text).toBe(DIAL.connect_to);
    await on.post(form.get('StatusCallback')!, { ...report, CallStatus: 'completed' });
    expect((await ask()).children.map(({ name }) => name)).toEqual(['Hangup']);
  });

  test('cost what their own legs cost, or nothing is known', async () => {
    const { on, here } = env;
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const played = await on.placeCall({ to: on.companyNumber, buyers: answering(buyer) });
    const record = { status: 'completed', price: '-0.01', price_unit: 'USD' };
    const stranger = { ...record, sid: 'CA-other', parent_call_sid: 'CA-parent' };
    const leg = { ...record, sid: `${played.sid}-0-0`, parent_call_sid: played.sid };
    here.server.calls.push(stranger, leg, { ...record, sid: played.sid, parent_call_sid: null });
    world.clock.later(60);
    await lookUpCosts(world.deps);
    const { id } = await on.loadCall(played);
    expect((await on.ok('get', `calls/${id}`)).call.provider_cost).toBe(
      dialect === 'telnyx' ? null : 0.02,
    );
  });

  test('count only if the carrier of this dialect has signed them', async () => {
    const { on, here } = env;
    await on.offer([await on.buyer()]);
    const url = on.hook('voice');
    const params = { CallSid: `CA${world.company.id}`, From: PERSON, To: on.companyNumber };
    const text = new URLSearchParams(params).toString();
    const { server } = here;
    let address = 0;
    const post = async (name: DialectName, keys = server.keys, at = world.clock.read()) => {
      const signature = MODELS[name].sign({ url, params, text, at }, keys);
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Forwarded-For': `10.3.${++address}.1`,
        ...signature,
      };
      const res = await world.api('post', 'telephony/voice', { auth: null, headers, body: text });
      return res.status;
    };
    const allKeys = { ...MODELS.telnyx.createKeys(''), ...server.keys };
    for (const other of DIALECT_NAMES) {
      const isRead = MODELS[other].sign({ url, params, text, at: new Date() }, allKeys);
      const isOwn = Object.keys(isRead).some((header) =>
        DIALECTS[dialect].signature_headers.includes(header),
      );
      expect([other, await post(other, allKeys)]).toEqual([other, isOwn ? 200 : 401]);
    }
    expect(await post(dialect, MODELS[dialect].createKeys('another'))).toBe(401);
    const tenMinutesAgo = new Date(world.clock.read().getTime() - 600_000);
    expect(await post(dialect, server.keys, tenMinutesAgo)).toBe(dialect === 'telnyx' ? 401 : 200);
  });
});

describe('Telnyx', () => {
  const { world, here } = openDialect('telnyx');

  test('is asked for no numbers: what to do instead is said', async () => {
    for (const res of [
      await world.api('get', 'phone_numbers/search'),
      await world.api('post', 'phone_numbers', { body: { country: 'US' } }),
      await world.api('post', 'phone_numbers', { body: { requested_number: '+12125550110' } }),
    ])
      expect([res.status, res.body.code, res.body.detail]).toEqual([
        409,
        'carrier_refused',
        expect.stringContaining('POST /phone_numbers'),
      ]);
    const { number } = await world.ok('post', 'phone_numbers', { number: '+12125550110' });
    expect(number.phone_number).toBe('+12125550110');
    expect(await world.sql('SELECT FROM number_lookups WHERE number_id IS NULL')).toEqual([]);
    expect(here.server.requests).toEqual([]);
  });

  test('is sent no texts of schedules: they fail by name', async () => {
    const { schedule } = await openShop(world, [{ action_type: 'sms', body: 'Hello' }]);
    const { id } = (await submit(world, schedule.lead_token, { caller_id: '3105550179' })).body;
    await runEngine(world);
    const { text_messages } = await world.ok('get', `text_messages?lead_id=${id}`);
    expect(text_messages).toMatchObject([
      {
        status: 'failed',
        error_code: 'not_supported',
        error_message: expect.stringContaining('Telnyx'),
      },
    ]);
    expect(here.server.requests).toEqual([]);
  });
});
