import { createCallWriter } from '../../support/calls';
import { standingClock } from '../../support/clock';
import { switchboard } from '../../support/switchboard';
import { createWorld, type World } from '../../support/world';

const NOON = '2026-06-01T16:00:00Z';
const CALLER = '+13105550188';

let world: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
beforeEach(async () => {
  time.set(NOON);
  world.company = await world.addCompany();
});
afterAll(() => world.close());

type Fields = Record<string, unknown>;
let next = 100;
const board = () => switchboard(world, time);
const ok = (...args: Parameters<ReturnType<typeof switchboard>['ok']>) => board().ok(...args);
const press = (body: Fields) => world.company.api('post', 'calls/send_key_press', { body });
/** A call of a softswitch that rings at buyers, one of them unless the count says otherwise. */
const createRingingCall = async (fields: Fields = {}, buyers = 1) => {
  const ids = [];
  for (let n = 0; n < buyers; n++)
    ids.push(
      (
        await ok('post', 'buyers', {
          number: `+1212555${String(next++).padStart(4, '0')}`,
          ...fields,
        })
      ).buyer.id,
    );
  const group = (
    await ok('post', 'buyer_groups', {
      name: 'All',
      dial_buyers_type: 'simultaneously',
      buyer_ids: ids,
    })
  ).buyer_group.id;
  const offer = (await ok('post', 'offers', { name: 'Auto', buyer_group_ids: [group] })).offer.id;
  return (await ok('post', 'call_sessions', { offer_id: offer, caller_number: CALLER }))
    .call_session;
};
const report = async ({ id }: { id: number }, body: Fields) =>
  (await ok('post', `call_sessions/${id}/events`, body)).call_session.instruction;
const loadInstruction = async ({ id }: { id: number }) =>
  (await ok('get', `call_sessions/${id}`)).call_session.instruction;

test('keys in a connected call are sent to the softswitch in order, and are events', async () => {
  const call = await createRingingCall();
  await report(call, { event: 'answered' });
  const pressed = await press({ id: call.uuid, digits: '1w2#', data: { menu: 'sales' } });
  expect([pressed.status, pressed.body.call.token_values]).toEqual([200, { menu: 'sales' }]);
  const query = await world.company.api('post', 'calls/send_key_press', {
    query: { id: call.id, digits: '9' },
  });
  expect(query.status).toBe(200);
  expect((await press({ id: call.id, digits: '3' })).status).toBe(200);
  const { key_presses } = await report(call, { event: 'duration' });
  expect(key_presses.map(({ digits }: Fields) => digits)).toEqual(['1w2#', '9', '3']);
  expect(await loadInstruction(call)).toMatchObject({ action: 'connect', key_presses });
  const { call_events } = await ok('get', `calls/${call.id}/events`);
  expect(call_events.find(({ id }: Fields) => id === key_presses[0].id)).toMatchObject({
    event: 'send_digits',
    message: '1w2#',
    buyer_id: expect.any(Number),
  });
  expect(await report(call, { event: 'completed' })).toMatchObject({
    action: 'hang_up',
    key_presses: [],
  });
});

test('1 is the acceptance of the buyer that is asked for it, and counts once', async () => {
  const call = await createRingingCall({ press_one_to_accept: true });
  expect((await report(call, { event: 'answered' })).action).toBe('ask_for_key');
  const answers = await Promise.all([
    press({ id: call.id, digits: 'w1' }),
    press({ id: call.id, digits: '1' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[0]!.body.call).toMatchObject({
    status: 'in_progress',
    connected_at: expect.any(String),
  });
  const { buyers } = await ok('get', 'buyers');
  expect(buyers[0].connection_total_used).toBe(1);
  expect((await loadInstruction(call)).action).toBe('connect');
});

test('any other key declines, and the call goes on without that buyer', async () => {
  const call = await createRingingCall({ press_one_to_accept: true });
  await report(call, { event: 'answered' });
  expect((await press({ id: call.id, digits: '11' })).body.errors).toEqual({
    digits: [expect.stringContaining('one key')],
  });
  expect((await press({ id: call.id, digits: '2' })).body.call).toMatchObject({
    status: 'no_answer',
    ended_at: expect.any(String),
  });
  const { call_attempts } = await ok('get', `calls/${call.id}/attempts`);
  expect(call_attempts.map(({ status }: Fields) => status)).toEqual(['declined']);
});

test('a buyer that a carrier asks for the key is connected after the prompt', async () => {
  const line = board();
  const buyer = await line.buyer({ press_one_to_accept: true });
  await line.offer([buyer]);
  const sid = `CA${world.company.id}`;
  const caller = { CallSid: sid, From: CALLER, To: line.companyNumber };
  const twiml = await line.twiml(line.hook('voice'), { ...caller, CallStatus: 'ringing' });
  const leg = twiml.children[0]!.children[0]!;
  const gather = (await line.twiml(leg.attributes.url!, { ...caller, CallStatus: 'in-progress' }))
    .children[0]!;
  const { id } = await line.loadCall({ sid });
  expect((await press({ id: Number(id), digits: '1' })).body.call.connected_at).not.toBeNull();
  const after = await line.twiml(gather.attributes.action!, {
    ...caller,
    CallStatus: 'in-progress',
    Digits: '',
  });
  expect(after.children).toEqual([]);
  expect(await line.attempts({ sid })).toEqual(['connected']);
  // Once it has connected them, only that carrier can play the tones.
  const refused = await press({ id: Number(id), digits: '1' });
  expect([refused.status, refused.body.errors]).toEqual([
    409,
    { id: [expect.stringContaining('is at twilio')] },
  ]);
});

test('are rejected without a buyer to hear them, and then change nothing', async () => {
  const errors = async (body: Fields) => (await press({ data: { a: 1 }, ...body })).body.errors;
  const call = await createRingingCall({ press_one_to_accept: true }, 2);
  expect(await errors({ id: call.id, digits: '1' })).toEqual({
    id: [expect.stringContaining('connected to a buyer')],
  });
  for (const { attempt } of call.instruction.dial)
    await report(call, { event: 'answered', attempt });
  expect(await errors({ id: call.id, digits: '1' })).toEqual({
    id: [expect.stringContaining('several are')],
  });
  await report(call, { event: 'completed' });
  expect(await errors({ id: call.id, digits: '1' })).toEqual({
    id: [expect.stringContaining('over')],
  });
  const out = await createCallWriter(world, world.company).call({
    direction: 'outbound',
    status: 'in_progress',
  });
  expect(await errors({ id: out.id, digits: '1' })).toEqual({
    id: [expect.stringContaining('connected this one by itself')],
  });
  expect(await errors({ id: 999_999_999, digits: '1' })).toEqual({
    id: [expect.stringContaining('no record of yours')],
  });
  expect(await errors({ id: call.id, digits: '1a' })).toEqual({ digits: [expect.any(String)] });
  expect(await errors({ digits: 'ww' })).toEqual({
    digits: [expect.any(String)],
    id: [expect.any(String)],
  });
  expect((await ok('get', `calls/${call.id}`)).call.token_values).toEqual({});
});
