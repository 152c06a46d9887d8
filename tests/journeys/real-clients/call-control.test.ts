import type { CarrierOptions } from '../../../src/platform/carriers';
import { openTwilio } from '../../platform/carriers/requests';
import { switchboard } from '../../support/switchboard';
import { useTwilio } from '../../support/use-twilio';
import { readTwiml } from '../../support/twiml-caller';
import { buildApp, caller, type Api } from '../../support/world';

// Keys and hang-ups in calls that are connected through the carrier.

const FROM = '+13105550188';
const here = useTwilio({ clock: '2026-06-01T16:00:00Z' });
const { world } = here;
let api: Api;
const openApi = (options: CarrierOptions = {}): Api =>
  caller(
    buildApp({ ...world.deps, carrier: openTwilio(here.server, options) }),
    world.company.auth,
  );
beforeEach(() => void (api = openApi()));

/** A call that the carrier has connected to a buyer. */
async function createConnectedCall(fields: object = {}) {
  const board = switchboard(world, world.clock);
  await board.offer([await board.buyer({ record_calls: true, ...fields })]);
  const sid = `CA${world.company.id}`;
  const fromCaller = { CallSid: sid, From: FROM, To: board.companyNumber };
  const twiml = await board.twiml(board.hook('voice'), { ...fromCaller, CallStatus: 'ringing' });
  const dial = twiml.children.find(({ name }) => name === 'Dial')!;
  const leg = `${sid}-leg`;
  const report = (CallStatus: string) =>
    board.post(dial.children[0]!.attributes.statusCallback!, { CallSid: leg, CallStatus });
  await report('ringing');
  await report('in-progress');
  const { id, uuid } = await board.loadCall({ sid });
  here.server.calls.push({ sid, status: 'in-progress' }, { sid: leg, status: 'in-progress' });
  /** The carrier's report that the caller's <Dial> has ended, and its next instruction. */
  const dialEnded = async (action: string, params: Record<string, string> = {}) => {
    const end = { ...fromCaller, CallStatus: 'in-progress', DialCallStatus: 'completed' };
    return board.twiml(action, { ...end, ...params });
  };
  const press = (digits: string) =>
    api('post', 'calls/send_key_press', { body: { id, digits, data: { menu: digits } } });
  const shown = async () => (await api('get', `calls/${id}`)).body.call;
  const twimlOfLeg = () => {
    const legCall = here.server.calls.find((candidate) => candidate.sid === leg)!;
    return readTwiml(String(legCall.twiml));
  };
  const action = dial.attributes.action!;
  return { board, id, uuid, sid, leg, report, action, dialEnded, press, shown, twimlOfLeg };
}

const HANG_UP = { children: [{ name: 'Hangup' }] };

test('the carrier plays keys to the buyer, and both meet again in a conference', async () => {
  const call = await createConnectedCall();
  const pressed = await call.press('1w2#');
  expect([pressed.status, pressed.body.call.token_values]).toEqual([200, { menu: '1w2#' }]);
  const [play, dial] = call.twimlOfLeg().children;
  expect([play!.name, play!.attributes.digits]).toEqual(['Play', '1w2#']);
  expect(dial!.children[0]).toMatchObject({
    name: 'Conference',
    text: `${call.uuid}-1`,
    attributes: { beep: 'false', startConferenceOnEnter: 'true', endConferenceOnExit: 'true' },
  });
  const RecordingUrl = 'https://api.twilio.com/recordings/RE1';
  const next = await call.dialEnded(call.action, { DialCallDuration: '9', RecordingUrl });
  const waiting = next.children[0]!;
  expect(waiting.children[0]).toEqual(dial!.children[0]);
  expect(await call.shown()).toMatchObject({
    status: 'in_progress',
    ended_at: null,
    recording_url: RecordingUrl,
  });
  // The conference is the rest of the conversation: its end is the end of the call.
  world.clock.set('2026-06-01T16:01:30Z');
  const end = { DialCallStatus: 'answered', DialCallDuration: '3' };
  expect(await call.dialEnded(waiting.attributes.action!, end)).toMatchObject(HANG_UP);
  expect(await call.shown()).toMatchObject({
    status: 'completed',
    answered_duration: 90,
    buyer_converted: true,
  });
  const events = (await api('get', `calls/${call.id}/events`)).body.call_events;
  expect(events.map(({ event }: { event: string }) => event)).toContain('send_digits');
});

test('keys are played again and again, each time in a new conference', async () => {
  const call = await createConnectedCall();
  await call.press('1');
  const first = (await call.dialEnded(call.action)).children[0]!;
  await call.press('2');
  expect(call.twimlOfLeg().children[1]!.children[0]!.text).toBe(`${call.uuid}-2`);
  const second = (await call.dialEnded(first.attributes.action!)).children[0]!;
  expect(second.children[0]!.text).toBe(`${call.uuid}-2`);
  // The carrier reports twice.
  expect((await call.dialEnded(first.attributes.action!)).children[0]).toEqual(second);
  expect(await call.dialEnded(second.attributes.action!)).toMatchObject(HANG_UP);
  expect((await call.shown()).status).toBe('completed');
});

test('the report of the broken connection waits until the carrier has answered', async () => {
  const call = await createConnectedCall();
  here.server.trouble([]);
  const [pressed, next] = await Promise.all([
    call.press('5'),
    new Promise((done) => setImmediate(done)).then(async () => {
      while (!here.server.requests.some(({ path }) => path === `Calls/${call.leg}`))
        await new Promise((done) => setTimeout(done, 1));
      return call.dialEnded(call.action);
    }),
  ]);
  expect([pressed.status, next.children[0]!.children[0]!.text]).toEqual([200, `${call.uuid}-1`]);
  expect((await call.shown()).ended_at).toBeNull();
});

test('a caller or a buyer who leaves meanwhile ends the call', async () => {
  const left = await createConnectedCall();
  await left.press('1');
  await left.dialEnded(left.action, { CallStatus: 'completed' });
  expect((await left.shown()).status).toBe('completed');
  world.company = await world.addCompany();
  api = openApi();
  const buyerLeft = await createConnectedCall();
  await buyerLeft.press('1');
  await buyerLeft.report('completed');
  expect((await buyerLeft.shown()).status).toBe('completed');
  expect(await buyerLeft.dialEnded(buyerLeft.action)).toMatchObject(HANG_UP);
});

test('what the carrier cannot do is 409 with the reason, and changes nothing', async () => {
  const call = await createConnectedCall();
  const refused = async (request = call.press('1')) => {
    const { status, body } = await request;
    expect((await call.shown()).token_values).toEqual({});
    return [status, body.code, body.errors.id?.[0]];
  };
  here.server.trouble([{ status: 400, code: 21210 }]);
  expect(await refused()).toEqual([409, 'carrier_refused', expect.stringContaining('no keys')]);
  const leg = here.server.calls.find(({ sid }) => sid === call.leg)!;
  leg.status = 'completed';
  expect(await refused()).toEqual([409, 'carrier_refused', expect.stringContaining('21220')]);
  leg.status = 'in-progress';
  here.server.trouble(['hang']);
  api = openApi({ timeout_ms: 300 });
  expect((await refused())[0]).toBe(503);
  // Another carrier than that of the call.
  const elsewhere = world.company.api('post', 'calls/send_key_press', {
    body: { id: call.id, digits: '1' },
  });
  expect(await refused(elsewhere)).toEqual([
    409,
    'carrier_refused',
    expect.stringContaining('is at twilio, and this service uses sandbox'),
  ]);
  // The connection was left alone: its end is the end of the call.
  expect(await call.dialEnded(call.action)).toMatchObject(HANG_UP);
  expect((await call.shown()).status).toBe('completed');
});

test('keys in a call that the carrier has connected by itself are 409 with the reason', async () => {
  const [{ id }] = (await world.sql(
    `INSERT INTO calls (company_id, uuid, direction, status, carrier, carrier_call_id,
       caller_number)
     VALUES ($1, gen_random_uuid(), 'outbound', 'in_progress', 'twilio', $2, 13105550188)
     RETURNING id`,
    [world.company.id, `CAout${world.company.id}`],
  )) as [{ id: string }];
  const { status, body } = await api('post', 'calls/send_key_press', {
    body: { id, digits: '1' },
  });
  expect([status, body.errors]).toEqual([409, { id: [expect.stringContaining('by itself')] }]);
});

test('hang_up ends a connected call at the carrier, also during a conference', async () => {
  const call = await createConnectedCall();
  await call.press('1');
  await call.dialEnded(call.action);
  const res = await api('post', `calls/${call.id}`, { body: { hang_up: true } });
  expect(res.status).toBe(200);
  expect(here.server.calls.find(({ sid }) => sid === call.sid)!.status).toBe('completed');
  const end = {
    CallSid: call.sid,
    From: FROM,
    To: call.board.companyNumber,
    CallStatus: 'completed',
  };
  await call.board.post(call.board.hook('voice_status'), end);
  expect((await call.shown()).status).toBe('completed');
  const response = await world.company.api('post', `calls/${call.id}`, { body: { hang_up: true } });
  expect(response.status).toBe(200);
});

test('a hang-up that the carrier refuses is 409 with the reason', async () => {
  const call = await createConnectedCall();
  here.server.trouble([{ status: 400, code: 21210 }]);
  const refused = await api('post', `calls/${call.id}`, { body: { hang_up: true } });
  expect([refused.status, refused.body.errors]).toEqual([
    409,
    { hang_up: [expect.stringContaining('refused by the carrier')] },
  ]);
  expect((await call.shown()).ended_at).toBeNull();
});
