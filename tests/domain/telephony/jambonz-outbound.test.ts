import { applyCalls } from '../../../src/domain/leads/apply-calls';
import type { JambonzCallPlan } from '../../support/jambonz-caller';
import { DIAL, loadStory, openShop, ownNumber, runEngine, submit } from '../../support/leads';
import type { Fields } from '../../support/records';
import { switchboard } from '../../support/switchboard';
import { useJambonz } from '../../support/use-jambonz';

// Calls that are placed through a model of jambonz, made from its documentation.

const PERSON = '+13105550123';
const here = useJambonz('2026-06-01T16:00:00Z');
const { world } = here;
let on: ReturnType<typeof switchboard>;
let offerId: number;
let buyers: { id: number; number: string }[];
beforeEach(async () => {
  on = switchboard(world, world.clock);
  buyers = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
  offerId = await on.offer(buyers);
});

const order = async (body: Fields) => {
  const { call } = await on.ok('post', 'calls', { to: PERSON, from: on.companyNumber, ...body });
  const { body: ordered } = here.server.requests.findLast(({ method }) => method === 'POST')!;
  return { call: call as Fields, ordered };
};
type Plan = Omit<JambonzCallPlan, 'from' | 'to'> & { events?: string[] };
const answer = ({ call, ordered }: Awaited<ReturnType<typeof order>>, plan: Plan = {}) =>
  here.caller.answerOrder(
    {
      ...{ sid: String(call.call_sid), from: String(ordered.from), to: PERSON },
      tag: ordered.tag as Fields,
    },
    plan,
  );
const show = async ({ call }: { call: Fields }) =>
  (await on.ok('get', `calls/${String(call.id)}`)).call as Fields;
const toBuyer = (n = 0) => ({ [buyers[n]!.number]: { does: 'answer', talks: 40 } as const });

test('a call is ordered with what it is known by', async () => {
  const { call, ordered } = await order({ offer_id: offerId });
  const hooks = 'https://calls.example.com/api/v1/telephony/jambonz';
  expect(ordered).toEqual({
    application_sid: here.server.application_sid,
    call_hook: { url: `${hooks}/call`, method: 'POST' },
    call_status_hook: { url: `${hooks}/status`, method: 'POST' },
    ...{ from: on.companyNumber, to: { type: 'phone', number: PERSON } },
    timeout: expect.any(Number),
    tag: { key: call.uuid, number: on.companyNumber.slice(1), detect: 'at_once' },
    amd: { actionHook: `${hooks}/call` },
  });
  const message = { machine_action: 'leave_message', machine_message: 'Hello' };
  const { ordered: other } = await order({ offer_id: offerId, ...message });
  expect((other.tag as Fields).detect).toBe('for_message');
});

describe('a person', () => {
  test('waits until it is known that it is one, and is put through to a buyer', async () => {
    const placed = await order({ offer_id: offerId });
    const played = await answer(placed, {
      buyers: { [buyers[0]!.number]: { does: 'fail', sip: 486 }, ...toBuyer(1) },
      events: ['amd_human_detected', 'amd_stopped', 'amd_tone_detected'],
      twice: true,
    });
    expect([played.connected, played.dials[0]!.callerId]).toEqual([
      buyers[1]!.number,
      expect.any(String),
    ]);
    expect(await show(placed)).toMatchObject({
      ...{ status: 'completed', answered_by: 'human', buyer_id: buyers[1]!.id },
      answered_duration: 40,
    });
    expect(await on.slots()).toBe(0);
  });

  test('waits no longer than the detection may take', async () => {
    const placed = await order({ offer_id: offerId });
    const played = await answer(placed, { buyers: toBuyer() });
    expect(played.connected).toBe(buyers[0]!.number);
    expect(await show(placed)).toMatchObject({ answered_by: 'unknown', buyer_id: buyers[0]!.id });
  });

  test.each(['amd_no_speech_detected', 'amd_decision_timeout'])(
    'is what %s may be',
    async (event) => {
      const placed = await order({ offer_id: offerId });
      const played = await answer(placed, { buyers: toBuyer(), events: [event] });
      expect(played.connected).toBe(buyers[0]!.number);
    },
  );

  test.each<[Fields, string[]]>([
    [DIAL, []],
    [{ ...DIAL, machine_action: 'hang_up' }, ['amd_human_detected']],
  ])('whom a schedule calls is connected to its destination: %j', async (action, events) => {
    await ownNumber(world, world.company, on.companyNumber.replace('+1212', '1213'));
    const { schedule } = await openShop(world, [action]);
    await submit(world, schedule.lead_token, { caller_id: PERSON });
    await runEngine(world);
    const { body: ordered } = here.server.requests.findLast(({ method }) => method === 'POST')!;
    const tag = ordered.tag as Fields;
    const placedCall = {
      sid: here.server.calls[0]!.call_sid,
      from: String(ordered.from),
      to: PERSON,
      tag,
    };
    const buyersOfPlan = { [String(DIAL.connect_to)]: { does: 'answer' } as const };
    const played = await here.caller.answerOrder(placedCall, { buyers: buyersOfPlan, events });
    expect([played.connected, played.dials[0]!.callerId]).toEqual([DIAL.connect_to, ordered.from]);
    const [row] = await world.sql<Fields>('SELECT status FROM calls WHERE uuid = $1', [tag.key]);
    expect(row!.status).toBe('completed');
  });
});

describe('a machine', () => {
  test('is hung up, and no buyer rings', async () => {
    const placed = await order({ offer_id: offerId, machine_action: 'hang_up' });
    const played = await answer(placed, {
      events: ['amd_machine_detected', 'amd_machine_stopped_speaking', 'amd_stopped'],
      twice: true,
    });
    expect([played.dials, played.heard]).toEqual([[], []]);
    expect(await show(placed)).toMatchObject({ answered_by: 'machine', buyer_id: null });
  });

  const message = { machine_action: 'leave_message', machine_message: 'Please call back' };

  test('hears the message when its greeting is over', async () => {
    const placed = await order({ offer_id: offerId, ...message });
    const played = await answer(placed, {
      events: ['amd_machine_detected', 'amd_machine_stopped_speaking', 'amd_stopped'],
    });
    expect([played.heard, played.dials]).toEqual([['Please call back'], []]);
    expect(await show(placed)).toMatchObject({ answered_by: 'machine' });
  });

  test('that does not stop speaking hears it after a minute, and is no person', async () => {
    const placed = await order({ offer_id: offerId, ...message });
    const played = await answer(placed, { events: ['amd_machine_detected'] });
    expect([played.heard, played.dials]).toEqual([['Please call back'], []]);
    expect(await show(placed)).toMatchObject({ answered_by: 'machine' });
  });
});

describe('a call that nobody answers', () => {
  const report = async (placed: Awaited<ReturnType<typeof order>>, changes: Fields) => {
    const payload = {
      ...{ call_sid: placed.call.call_sid, direction: 'outbound', from: on.companyNumber },
      ...{ to: PERSON, customerData: placed.ordered.tag, ...changes },
    };
    return (await here.caller.send(here.caller.hook('status'), payload)).status;
  };
  test.each([
    ['busy', 'busy'],
    ['no-answer', 'no_answer'],
    ['failed', 'failed'],
  ])('is %s', async (callStatus, status) => {
    const placed = await order({ offer_id: offerId });
    expect(await report(placed, { call_status: 'ringing', sip_status: 180 })).toBe(200);
    expect(await show(placed)).toMatchObject({ status: 'ringing' });
    for (let time = 0; time < 2; time++)
      expect(await report(placed, { call_status: callStatus, sip_status: 486 })).toBe(200);
    expect(await report(placed, { call_status: 'unheard-of' })).toBe(200);
    expect(await show(placed)).toMatchObject({ status, buyer_id: null });
    await applyCalls(world.deps.database.pool, world.clock.read());
  });
});

test('a call is hung up, whether it rings or talks', async () => {
  const placed = await order({ offer_id: offerId });
  const hangUp = () =>
    world.api('post', `calls/${String(placed.call.id)}`, { body: { hang_up: true } });
  expect((await hangUp()).status).toBe(200);
  expect(here.server.calls[0]!.call_status).toBe('no-answer');
  const statuses = here.server.requests.map(({ body }) => body.call_status).filter(Boolean);
  expect(statuses).toEqual(['completed', 'no-answer']);
});

test('keys in a call are refused by name', async () => {
  const sid = 'inbound-1';
  const caller = { call_sid: sid, direction: 'inbound', from: PERSON, to: on.companyNumber };
  const { body: verbs } = await here.caller.send(here.caller.hook('call'), caller);
  const { tag } = (verbs as Fields[]).find(({ verb }) => verb === 'dial')!;
  const leg = { call_sid: 'leg-1', parent_call_sid: sid, to: buyers[0]!.number, customerData: tag };
  await here.caller.send(here.caller.hook('status'), { ...leg, call_status: 'in-progress' });
  const { id, status } = await on.loadCall({ sid });
  const pressed = await world.api('post', 'calls/send_key_press', { body: { id, digits: '1' } });
  expect([status, pressed.status, pressed.body.code]).toEqual([
    'in_progress',
    409,
    'carrier_refused',
  ]);
});

test('texts of schedules are skipped by name', async () => {
  await ownNumber(world, world.company, on.companyNumber.replace('+1212', '1213'));
  const { schedule } = await openShop(world, [{ action_type: 'sms', body: 'Hello' }]);
  const { id } = (await submit(world, schedule.lead_token, { caller_id: '3105550179' })).body;
  await runEngine(world);
  expect(await loadStory(world, id)).toContainEqual(
    expect.stringContaining('(CARRIER=jambonz): it sends no texts'),
  );
  expect(here.server.requests).toEqual([]);
});

test('numbers are added, and none are bought', async () => {
  const search = await world.api('get', 'phone_numbers/search');
  expect([search.status, search.body.code]).toEqual([409, 'carrier_refused']);
  const { number } = await on.ok('post', 'phone_numbers', { number: '+12125550110' });
  expect(number.phone_number).toBe('+12125550110');
  expect(here.server.requests).toEqual([]);
});

test('a call of another user of the application is hung up', async () => {
  const payload = { call_sid: 'z', direction: 'outbound', from: '+1', to: on.companyNumber };
  const res = await here.caller.send(here.caller.hook('call'), payload);
  expect([res.status, res.body]).toEqual([200, [{ verb: 'hangup' }]]);
});
