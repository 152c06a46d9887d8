import { softswitch } from '../../support/softswitch';

/** Monday 08:30 in New York. */
const here = softswitch('2026-06-01T12:30:00Z');
const { ok, buyer, offer, begin, report, later } = here;

type Fields = Record<string, unknown>;
interface Trunk extends Fields {
  id: number;
}

const addSwitch = async (name = 'edge'): Promise<number> =>
  (await ok('post', 'switches', { name })).switch.id;
let edge: number;
const addTrunk = async (name: string, fields: Fields = {}): Promise<Trunk> =>
  (await ok('post', 'trunks', { name, host: `${name}.example`, ...fields })).trunk;
const showTrunk = async ({ id }: Trunk): Promise<Fields> => (await ok('get', `trunks/${id}`)).trunk;
const startCall = async (buyerIds: number[], fields: Fields = {}) =>
  begin(await offer({ buyer_ids: buyerIds }), { switch: 'edge', ...fields });
type Call = Awaited<ReturnType<typeof startCall>>;
type Instruction = Call['instruction'];
const readLegs = (of: Call | Instruction) =>
  ('instruction' in of ? of.instruction : of).dial as Fields[];
const readTrunks = (of: Call | Instruction) =>
  readLegs(of).map(({ trunk }) => (trunk as { name: string } | null)?.name ?? null);
const readReasons = async (call: Call) => {
  const { decisions } = await ok('get', `calls/${call.id}/decision`);
  return decisions.at(-1).candidates.map(({ reason }: Fields) => reason);
};
const failTrunk = (call: Call, trunk: string, fields: Fields = { sip_code: 503 }) =>
  report(call, 'failed', { trunk, ...fields });

beforeEach(async () => {
  edge = await addSwitch();
});

describe('the trunk of a buyer', () => {
  test('is the first in the order that leads to its number', async () => {
    await addTrunk('last', { position: 9 });
    await addTrunk('mexico', { position: 1, countries: ['MX'] });
    await addTrunk('boston', { position: 2, prefixes: ['1617'] });
    const call = await startCall([await buyer({ number: '+16175550100' })]);
    expect(readLegs(call)[0]!.trunk).toEqual({
      ...{ name: 'boston', host: 'boston.example', number: '+16175550100' },
    });
    expect(readTrunks(await startCall([await buyer({ number: '+12125550100' })]))).toEqual([
      'last',
    ]);
  });

  test('is one of the switch of the call, or of all switches', async () => {
    const other = await addSwitch('other');
    await addTrunk('theirs', { switch_id: String(other) });
    const id = await buyer();
    // A switch without trunks chooses its line itself.
    expect(readTrunks(await startCall([id]))).toEqual([null]);
    await addTrunk('ours', { switch_id: String(edge), position: 5 });
    expect(readTrunks(await startCall([id]))).toEqual(['ours']);
    expect(readTrunks(await startCall([id], { switch: 'other' }))).toEqual(['theirs']);
  });

  test('has a prefix, a caller ID and headers of its own', async () => {
    await addTrunk('line', {
      ...{ dial_prefix: '0011', caller_id_rule: 'fixed', caller_id: '+13105550111' },
      headers: { 'X-Network': 'one', 'X-Campaign': '{{campaign}}' },
    });
    const id = await buyer({ number: '+12125550100', sip_headers: { 'X-Network': 'mine' } });
    const call = await startCall([id], { tokens: { campaign: 'a\r\nX-Evil: 1' } });
    expect(readLegs(call)[0]).toMatchObject({
      ...{ number: '+12125550100', caller_id: '+13105550111' },
      trunk: { number: '001112125550100' },
      headers: { 'X-Network': 'mine', 'X-Campaign': 'a X-Evil: 1' },
    });
  });

  test('is none for a SIP address, which gets headers too', async () => {
    await addTrunk('line');
    const sip = { number: 'sip:agent@pbx.example.com', sip_headers: { 'X-Lead': '{{caller_id}}' } };
    const call = await startCall([await buyer(sip)]);
    expect(readLegs(call)[0]).toMatchObject({ trunk: null });
    expect(Object.keys(readLegs(call)[0]!.headers as object)).toEqual(['X-Lead']);
  });

  test('is none that is paused or deleted: the buyer is passed over with a reason', async () => {
    const trunk = await addTrunk('line', { paused: true });
    await addTrunk('mexico', { countries: ['MX'] });
    const id = await buyer();
    const call = await startCall([id]);
    expect([call.instruction.action, await readReasons(call)]).toEqual(['hang_up', ['no_trunk']]);
    await ok('put', `trunks/${trunk.id}`, { paused: false });
    expect(readTrunks(await startCall([id]))).toEqual(['line']);
    await ok('delete', `trunks/${trunk.id}`);
    expect(await readReasons(await startCall([id]))).toEqual(['no_trunk']);
  });

  test('shows in an explanation of calls of a switch', async () => {
    await addTrunk('mexico', { countries: ['MX'] });
    const possible = {
      offer_id: await offer({ buyer_ids: [await buyer()] }),
      carrier: 'softswitch',
    };
    const { decision } = await ok('post', 'routing/explain', possible);
    expect(decision.candidates[0]).toMatchObject({ reason: 'no_trunk' });
  });

  test.each([
    ['a header that SIP needs', { headers: { Via: 'x' } }, 'headers'],
    ['a switch of no one', { switch_id: 'nowhere' }, 'switch_id'],
    ['no calls at a time', { max_calls: 0 }, 'max_calls'],
  ])('cannot have %s', async (_, fields, field) => {
    const [status, errors] = await here.errors('trunks', { name: 'x', host: 'x', ...fields });
    expect([status, Object.keys(errors)[0]]).toEqual([422, expect.stringContaining(field)]);
  });
});

describe('a trunk with a limit', () => {
  test('takes so many calls at a time, then the next one does', async () => {
    const small = await addTrunk('small', { max_calls: 1 });
    await addTrunk('large', { position: 1 });
    const id = await buyer();
    const first = await startCall([id]);
    const second = await startCall([id]);
    expect([readTrunks(first), readTrunks(second)]).toEqual([['small'], ['large']]);
    expect(await showTrunk(small)).toMatchObject({ calls_in_use: 1 });
    await report(first, 'completed');
    expect(readTrunks(await startCall([id]))).toEqual(['small']);
  });

  test('is full: the buyer is passed over, and its caps are as they were', async () => {
    await addTrunk('small', { max_calls: 1 });
    const id = await buyer({ attempt_daily_limit: 5 });
    await startCall([id]);
    expect(await readReasons(await startCall([id]))).toEqual(['trunk_full']);
    expect((await ok('get', `buyers/${id}`)).buyer).toMatchObject({ attempt_daily_used: 1 });
  });

  test('counts each leg of a group that rings at once', async () => {
    await addTrunk('small', { max_calls: 2 });
    const ids = [await buyer(), await buyer(), await buyer()];
    const group = await ok('post', 'buyer_groups', {
      ...{ name: 'ring', buyer_ids: ids, dial_buyers_type: 'simultaneously' },
    });
    const id = await offer({ buyer_group_ids: [group.buyer_group.id] });
    const call = await begin(id, { switch: 'edge' });
    expect(readTrunks(call)).toEqual(['small', 'small']);
    expect((await readReasons(call)).filter(Boolean)).toEqual(['trunk_full']);
  });

  test('takes so many calls in one second', async () => {
    await addTrunk('slow', { max_calls_per_second: 1 });
    const id = await buyer();
    const second = async () => readTrunks(await startCall([id]));
    expect(await second()).toEqual(['slow']);
    expect(await second()).toEqual([]);
    later(1);
    expect(await second()).toEqual(['slow']);
  });

  test('is never over it when calls come at the same time', async () => {
    const trunk = await addTrunk('small', { max_calls: 3 });
    const id = await offer({ buyer_ids: [await buyer(), await buyer()] });
    const calls = await Promise.all(
      Array.from({ length: 12 }, () => begin(id, { switch: 'edge' })),
    );
    expect(calls.flatMap(readTrunks)).toEqual(['small', 'small', 'small']);
    expect(await showTrunk(trunk)).toMatchObject({ calls_in_use: 3 });
  });
});

describe('a trunk that fails', () => {
  const addBoth = async () => [await addTrunk('first'), await addTrunk('second', { position: 1 })];

  test('makes the next one dial the buyer, without caps and events of a new buyer', async () => {
    const [first] = await addBoth();
    const id = await buyer({ attempt_daily_limit: 5 });
    const call = await startCall([id, await buyer({ tier: 2 })]);
    const attempt = readLegs(call)[0]!.attempt;
    const after = await failTrunk(call, 'first');
    expect(after.action).toBe('dial');
    expect(readLegs(after)).toMatchObject([
      { attempt, trunk: { name: 'second', host: 'second.example' } },
    ]);
    expect((await ok('get', `buyers/${id}`)).buyer).toMatchObject({ attempt_daily_used: 1 });
    expect(await showTrunk(first!)).toMatchObject({
      ...{ calls_in_use: 0, faults: 1, last_fault: 'first answered 503', down_until: null },
    });
    expect(await here.loadEvents(call)).toContain('trunk_failed');
  });

  test('is not counted twice, and the answer to a repeated report is the same', async () => {
    const [first, second] = await addBoth();
    const call = await startCall([await buyer()]);
    const once = await failTrunk(call, 'first');
    const twice = await failTrunk(call, 'first');
    expect(twice).toEqual(once);
    expect([await showTrunk(first!), await showTrunk(second!)]).toMatchObject([
      ...[{ faults: 1 }, { faults: 0, calls_in_use: 1 }],
    ]);
  });

  test('never burns through the buyers', async () => {
    await addBoth();
    const call = await startCall([await buyer(), await buyer()]);
    await failTrunk(call, 'first', { sip_code: 403 });
    const after = await failTrunk(call, 'second', { q850: 34 });
    expect(after.action).toBe('hang_up');
    expect(await readReasons(call)).toEqual(expect.arrayContaining(['already_tried', 'no_trunk']));
  });

  test('leaves buyers that need another trunk', async () => {
    await addTrunk('boston', { prefixes: ['1617'] });
    await addTrunk('york', { prefixes: ['1212'] });
    const [boston, york] = [
      await buyer({ number: '+16175550100', tier: 1 }),
      await buyer({ number: '+12125550100', tier: 2 }),
    ];
    const call = await startCall([boston, york]);
    expect(readTrunks(await failTrunk(call, 'boston'))).toEqual(['york']);
  });

  test('leaves the others that ring', async () => {
    await addBoth();
    const ids = [await buyer(), await buyer()];
    const group = await ok('post', 'buyer_groups', {
      ...{ name: 'ring', buyer_ids: ids, dial_buyers_type: 'simultaneously' },
    });
    const call = await begin(await offer({ buyer_group_ids: [group.buyer_group.id] }), {
      switch: 'edge',
    });
    const [failing, ringing] = readLegs(call);
    const { attempt } = failing as { attempt: string };
    const after = await failTrunk(call, 'first', { sip_code: 503, attempt });
    expect(readLegs(after)).toMatchObject([{ attempt, trunk: { name: 'second' } }]);
    const left = await failTrunk(call, 'second', { sip_code: 503, attempt });
    expect(left).toMatchObject({
      ...{ action: 'wait', dial: [{ attempt: ringing!.attempt, trunk: { name: 'first' } }] },
    });
  });

  test('is tried last after three faults, until it reaches a telephone or a minute is over', async () => {
    const [first] = await addBoth();
    const id = await buyer();
    for (let time = 0; time < 3; time++) await failTrunk(await startCall([id]), 'first');
    expect(await showTrunk(first!)).toMatchObject({
      ...{ faults: 3, down_until: '2026-06-01T12:31:00.000+00:00' },
    });
    expect(readTrunks(await startCall([id]))).toEqual(['second']);
    later(61);
    const call = await startCall([id]);
    expect(readTrunks(call)).toEqual(['first']);
    await report(call, 'ringing');
    expect(await showTrunk(first!)).toMatchObject({ faults: 0, down_until: null });
  });

  test.each([404, 486, 603])('is not what a telephone answers with %i', async (code) => {
    const [first] = await addBoth();
    const call = await startCall([await buyer()]);
    const after = await failTrunk(call, 'first', { sip_code: code });
    expect(after.action).toBe('hang_up');
    expect(await showTrunk(first!)).toMatchObject({ faults: 0 });
  });

  test('is not known where the event names none: the attempt has failed', async () => {
    await addBoth();
    const call = await startCall([await buyer()]);
    const after = await report(call, 'failed', { sip_code: 503 });
    expect(after.action).toBe('hang_up');
  });

  test('passes on to the next only where that has room', async () => {
    await addTrunk('first');
    await addTrunk('second', { position: 1, max_calls: 1 });
    await addTrunk('third', { position: 2 });
    const id = await buyer();
    const calls = [await startCall([id]), await startCall([id])];
    const both = await Promise.all(calls.map((call) => failTrunk(call, 'first')));
    expect(both.flatMap(readTrunks).sort()).toEqual(['second', 'third']);
  });
});
