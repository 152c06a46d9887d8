import type { Fields } from '../../support/records';
import { switchboard, type Bought } from '../../support/switchboard';
import type { JambonzCallPlan, JambonzScript, PlayedCall } from '../../support/jambonz-caller';
import { signJambonz } from '../../support/jambonz-rest';
import { useJambonz } from '../../support/use-jambonz';

// Calls through a model of jambonz, which is made from its documentation: it throws for what
// jambonz would not read.

const here = useJambonz('2026-06-01T16:00:00Z');
const { world } = here;
let on: ReturnType<typeof switchboard>;
beforeEach(() => void (on = switchboard(world, world.clock)));

const placeCall = (plan: Omit<JambonzCallPlan, 'to'>) =>
  here.caller.placeCall({ to: on.companyNumber, ...plan });
const scripts = (...pairs: [Bought, JambonzScript | JambonzScript[]][]) =>
  Object.fromEntries(pairs.map(([{ number }, script]) => [number, script]));
const ANSWER: JambonzScript = { does: 'answer', talks: 45 };
const BUSY: JambonzScript = { does: 'fail', sip: 486 };

const show = async (played: Pick<PlayedCall, 'sid'>): Promise<Fields> => {
  const { id } = await on.loadCall(played);
  return (await on.ok('get', `calls/${id}`)).call;
};
const loadEvents = async (played: Pick<PlayedCall, 'sid'>) => {
  const { id } = await on.loadCall(played);
  const { call_events } = await on.ok('get', `calls/${id}/events`);
  return call_events as Fields[];
};
const loadReasons = async (sid: string) => {
  const { id } = await on.loadCall({ sid });
  const [decision] = (await on.ok('get', `calls/${id}/decision`)).decisions;
  return Object.fromEntries(
    (decision.candidates as Fields[]).map(({ buyer_id, reason }) => [buyer_id, reason]),
  );
};
const targets = (played: PlayedCall) => played.dials.map(({ target }) => target as Fields[]);

describe('an incoming call', () => {
  test('goes on to the next buyer, who pays for the time it talked', async () => {
    const [first, second] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([first, second], { greeting_message: 'Hello' });
    const played = await placeCall({ buyers: scripts([first, BUSY], [second, ANSWER]) });
    expect([played.heard, played.connected]).toEqual([['Hello'], second.number]);
    expect(await show(played)).toMatchObject({
      ...{
        status: 'completed',
        buyer_id: second.id,
        answered_duration: 45,
        caller_number: '+13105550188',
      },
      ...{ buyer_converted: true, hangup_cause: 'completed' },
    });
    expect(await on.attempts(played)).toEqual(['busy', 'completed']);
    expect([await on.counts(first), await on.counts(second)]).toEqual([
      [1, 0, 0, 0],
      [1, 1, 1, 0],
    ]);
    expect(await on.slots()).toBe(0);
  });

  test('is dialed as its reference has it', async () => {
    const buyer = await on.buyer({ timeout_seconds: 25 });
    await on.offer([buyer]);
    const played = await placeCall({ buyers: scripts([buyer, ANSWER]) });
    expect(played.dials).toEqual([
      {
        verb: 'dial',
        target: [{ type: 'phone', number: buyer.number, confirmHook: expect.any(String) }],
        actionHook: expect.stringMatching(/\/jambonz\/dial\?call=[\w-]+&round=1&number=\d+$/),
        ...{ callerId: expect.any(String), timeout: 25, timeLimit: 14_400, answerOnBridge: true },
        tag: {
          number: on.companyNumber.slice(1),
          call: (await on.loadCall(played)).uuid,
          legs: { [buyer.number]: expect.any(String) },
        },
      },
    ]);
  });

  test('rings a group at once, and the first to answer has it', async () => {
    const members = [await on.buyer(), await on.buyer()];
    const [first, second] = members as [Bought, Bought];
    await on.atOnce(members);
    const played = await placeCall({
      buyers: scripts([first, { ...ANSWER, after: 9 }], [second, { ...ANSWER, after: 4 }]),
    });
    expect(played.rung).toEqual([[first.number, second.number]]);
    expect((await show(played)).buyer_id).toBe(second.id);
    expect((await on.attempts(played)).toSorted()).toEqual(['completed', 'released']);
    expect(await on.counts(first)).toEqual([1, 0, 0, 0]);
    expect(await on.slots()).toBe(0);
  });

  test.each([{ late: true }, { twice: true }, { late: true, twice: true }])(
    'counts once with reports that are %j',
    async (more) => {
      const members = [await on.buyer(), await on.buyer()];
      const [first, second] = members as [Bought, Bought];
      await on.atOnce(members);
      const played = await placeCall({
        buyers: scripts([first, { ...BUSY, after: 1 }], [second, ANSWER]),
        ...more,
      });
      // The first has not ended for us when the second takes the call.
      const statusOfFirst = more.late ? 'released' : 'busy';
      expect(await on.attempts(played)).toEqual([statusOfFirst, 'completed']);
      expect((await show(played)).answered_duration).toBe(45);
      expect(await on.counts(second)).toEqual([1, 1, 1, 0]);
      expect((await on.counts(second))[3]).toBe(0);
      expect(await on.slots()).toBe(0);
    },
  );

  test('is counted in full without any status, also of a group', async () => {
    const [buyer, other] = [await on.buyer(), await on.buyer()];
    await on.atOnce([other, buyer]);
    const played = await placeCall({ buyers: scripts([buyer, ANSWER]), silent: true });
    expect(await show(played)).toMatchObject({ buyer_id: buyer.id, answered_duration: 45 });
    expect(await on.counts(buyer)).toEqual([1, 1, 1, 0]);
  });

  test.each([{ caller_hangs_up: true }, { caller_hangs_up: true, twice: true }, {}])(
    'lasts until one of the two hangs up: %j',
    async (more) => {
      const buyer = await on.buyer({ press_one_to_accept: true });
      await on.offer([buyer]);
      const played = await placeCall({ buyers: scripts([buyer, ANSWER]), ...more });
      expect(await show(played)).toMatchObject({ status: 'completed', answered_duration: 45 });
      expect(await on.counts(buyer)).toEqual([1, 1, 1, 0]);
    },
  );

  test('whose caller hangs up is of the only buyer, also where no status came', async () => {
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const buyers = scripts([buyer, ANSWER]);
    const played = await placeCall({ buyers, caller_hangs_up: true, silent: true });
    expect(await show(played)).toMatchObject({ buyer_id: buyer.id, answered_duration: 45 });
    expect(await on.slots()).toBe(0);
  });

  test('that its caller gives up while it rings is no call of a buyer', async () => {
    const [first, second] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([first, second]);
    const played = await placeCall({ gives_up: 7 });
    expect(played.rung).toEqual([[first.number]]);
    expect((await show(played)).status).toBe('no_answer');
    expect(await on.attempts(played)).toEqual(['canceled']);
    expect(await on.counts(second)).toEqual([0, 0, 0, 0]);
    expect(await on.slots()).toBe(0);
  });

  test('that its caller gives up after the greeting, while it rings, ends too', async () => {
    await on.offer([await on.buyer()], { greeting_message: 'Hello' });
    const played = await placeCall({ gives_up: 7, twice: true });
    expect(await on.attempts(played)).toEqual(['canceled']);
    expect(await on.slots()).toBe(0);
  });

  test('that nobody takes in time is refused, as it was not answered', async () => {
    const buyer = await on.buyer({ timeout_seconds: 20 });
    await on.offer([buyer]);
    const played = await placeCall({});
    expect(await on.attempts(played)).toEqual(['no_answer']);
    expect(played.declined).toEqual({ status: 480, reason: 'Temporarily Unavailable' });
  });

  test('with a greeting is hung up instead: it was answered', async () => {
    await on.offer([await on.buyer()], { greeting_message: 'https://cdn.example.com/hello.mp3' });
    const played = await placeCall({});
    expect([played.heard, played.declined]).toEqual([['https://cdn.example.com/hello.mp3'], null]);
  });

  test('of a caller on the blacklist is declined, before any greeting', async () => {
    await on.offer([await on.buyer()], { greeting_message: 'Hello' });
    await on.ok('post', 'contacts/caller_block', { caller_ids: ['+13105550188'] });
    const { heard, dials, declined } = await placeCall({});
    expect([heard, dials, declined]).toEqual([[], [], { status: 603, reason: 'Decline' }]);
  });

  test('to a number that leads nowhere is refused', async () => {
    await on.offer([]);
    const { numbers } = await on.ok('get', 'phone_numbers');
    await on.ok('put', `phone_numbers/${numbers[0].id}`, { offer_id: null });
    const played = await placeCall({});
    expect(played.declined).toEqual({ status: 480, reason: undefined });
  });

  test('gets the fallback of the offer: a message, or a number', async () => {
    await on.offer([], { fallback_type: 'message', fallback_message: 'We are closed' });
    expect((await placeCall({})).heard).toEqual(['We are closed']);
    const { offers } = await on.ok('get', 'offers');
    const fallback = { fallback_type: 'number', fallback_number: '+12125550177' };
    await on.ok('put', `offers/${offers[0].id}`, fallback);
    const played = await placeCall({ buyers: { '+12125550177': ANSWER } });
    expect([played.heard, played.connected]).toEqual([['We are closed'], '+12125550177']);
    await on.ok('put', `offers/${offers[0].id}`, { fallback_type: 'voicemail' });
    expect((await placeCall({})).heard).toEqual(['We are closed']);
  });
});

describe('a buyer that must press 1', () => {
  const outcomes: [string, JambonzScript, string | null, string][] = [
    ['presses 1', { ...ANSWER, key: '1' }, 'taken', 'completed'],
    ['presses 2', { does: 'answer', key: '2' }, null, 'declined'],
    ['presses nothing', { does: 'answer', key: null }, null, 'declined'],
    ['hangs up', { does: 'answer', leaves: true }, null, 'declined'],
  ];
  test.each(outcomes)('and %s', async (_, script, taken, status) => {
    const buyer = await on.buyer({ press_one_to_accept: true });
    await on.offer([buyer]);
    const played = await placeCall({ buyers: scripts([buyer, script]) });
    expect(played.prompts).toEqual(['Press 1 to take this call.']);
    expect([played.connected !== null, await on.attempts(played)]).toEqual([
      taken !== null,
      [status],
    ]);
    expect(await on.counts(buyer)).toEqual([1, taken ? 1 : 0, taken ? 1 : 0, 0]);
    expect(await on.slots()).toBe(0);
  });

  test('and declines leaves the call to the next', async () => {
    const first = await on.buyer({ tier: 1, press_one_to_accept: true });
    const second = await on.buyer({ tier: 2 });
    await on.offer([first, second]);
    const played = await placeCall({
      buyers: scripts([first, { does: 'answer', key: '9' }], [second, ANSWER]),
      twice: true,
    });
    expect([played.connected, await on.attempts(played)]).toEqual([
      second.number,
      ['declined', 'completed'],
    ]);
  });

  test('is hung up when another of its group has the call', async () => {
    const pressing = await on.buyer({ press_one_to_accept: true });
    const plain = await on.buyer();
    await on.atOnce([pressing, plain]);
    const played = await placeCall({ buyers: scripts([plain, ANSWER]) });
    const [leg] = targets(played)[0]!.filter(({ number }) => number === pressing.number);
    const { customerData } = played.posts.findLast(
      ({ payload }) => payload.parent_call_sid,
    )!.payload;
    const late = { call_sid: 'late', to: pressing.number, customerData };
    expect((await here.caller.send(String(leg!.confirmHook), late)).body).toEqual([
      { verb: 'hangup' },
    ]);
  });
});

test('of buyers that answer at one moment, one is connected and the others are hung up', async () => {
  const members = [await on.buyer(), await on.buyer(), await on.buyer()];
  await on.atOnce(members);
  const caller = { call_sid: 'raced', direction: 'inbound', from: '+13105550188' };
  const hook = here.caller.hook('call');
  const { body } = await here.caller.send(hook, { ...caller, to: on.companyNumber });
  const legs = (body as Fields[])[0]!.target as { confirmHook: string; number: string }[];
  const answers = await Promise.all(
    legs.map(({ confirmHook, number }) =>
      here.caller.send(confirmHook, { call_sid: `leg-${number}`, to: number }),
    ),
  );
  const verbs = answers.map((answer) => JSON.stringify(answer.body)).toSorted();
  expect(verbs).toEqual(['[]', '[{"verb":"hangup"}]', '[{"verb":"hangup"}]']);
  const statuses = (await on.attempts({ sid: 'raced' })).toSorted();
  expect(statuses).toEqual(['connected', 'released', 'released']);
});

test('tones are played to a buyer that has answered, also before it is asked for a key', async () => {
  const toned = await on.buyer({ tier: 1, dtmf_tones: 'w12W#', press_one_to_accept: true });
  const atSip = await on.buyer({ tier: 2, dtmf_tones: '7', number: 'sip:desk@example.com' });
  await on.offer([toned, atSip]);
  const played = await placeCall({
    buyers: { ...scripts([toned, { does: 'answer', key: '2' }]), 'sip:desk@example.com': ANSWER },
  });
  expect(played.tones).toEqual([0.5, '12', 1, '#', '7']);
  expect(played.connected).toBe('sip:desk@example.com');
  expect(await loadReasons(played.sid)).toEqual({ [toned.id]: null, [atSip.id]: null });
});

test('buyers get their headers, but none by which jambonz routes', async () => {
  const headers = {
    ...{ 'X-Lead': '7', 'User-to-User': '3a', 'X-Requested-Carrier-Sid': 'a', 'X-SIP-Proxy': 'b' },
    ...{ 'X-Account-Sid': 'c', 'X-jambonz-routing': 'd', 'X-Preferred-From-Host': 'e' },
  };
  const phone = await on.buyer({ tier: 1, sip_headers: headers });
  const sip = await on.buyer({ tier: 2, number: 'sip:a@b.example', sip_headers: headers });
  await on.offer([phone, sip]);
  const played = await placeCall({ buyers: scripts([phone, BUSY]) });
  const own = { 'X-Lead': '7', 'User-to-User': '3a' };
  const confirmHook = expect.stringContaining('/jambonz/confirm?') as string;
  expect(targets(played)).toEqual([
    [{ type: 'phone', number: phone.number, headers: own, confirmHook }],
    [{ type: 'sip', sipUri: 'sip:a@b.example', headers: own, confirmHook }],
  ]);
});

describe('the answer of SIP', () => {
  const answers: [number, string, string][] = [
    [404, 'failed', 'no_such_number'],
    [480, 'no_answer', ''],
    [486, 'busy', ''],
    [487, 'no_answer', ''],
    [503, 'failed', ''],
    [603, 'declined', ''],
  ];
  test.each(answers)('%d makes an attempt %s', async (sip, status) => {
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const played = await placeCall({ buyers: scripts([buyer, { does: 'fail', sip }]) });
    expect(await on.attempts(played)).toEqual([status]);
    if (status === 'busy' || sip === 487) return;
    const events = await loadEvents(played);
    expect(JSON.stringify(events.map(({ details }) => details))).toContain(String(sip));
  });

  test('of one leg of a group is its own', async () => {
    const members = [await on.buyer(), await on.buyer(), await on.buyer()];
    const [first, second, third] = members as [Bought, Bought, Bought];
    await on.atOnce(members);
    const played = await placeCall({
      buyers: scripts(
        [first, { does: 'fail', sip: 404, after: 1 }],
        [second, { does: 'fail', sip: 603, after: 2 }],
        [third, { does: 'fail', sip: 486, after: 3 }],
      ),
    });
    expect((await on.attempts(played)).toSorted()).toEqual(['busy', 'declined', 'failed']);
  });
});

describe('a trunk of no switch', () => {
  const trunk = (fields: Fields) => world.create('trunks', { host: 'gw.example', ...fields });
  const FAILS: JambonzScript = { does: 'fail', sip: 503 };

  test('is the carrier that jambonz dials by, and its fault is not that of the buyer', async () => {
    await trunk({ name: 'Alpha One', position: 1, dial_prefix: '9' });
    await trunk({ name: 'Beta', position: 2 });
    const [first, second] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([first, second]);
    const viaAlpha = `9${first.number.slice(1)}`;
    const played = await placeCall({
      buyers: { [viaAlpha]: FAILS, ...scripts([first, ANSWER]) },
      twice: true,
    });
    const dialed = targets(played).map(([target]) => [target!.trunk, target!.number]);
    expect(dialed[0]![0]).toBe('Alpha One');
    expect(dialed[1]).toEqual(['Beta', expect.stringContaining(first.number.slice(1))]);
    expect([await on.attempts(played), (await show(played)).buyer_id]).toEqual([
      ['completed'],
      first.id,
    ]);
    expect(await on.counts(first)).toEqual([1, 1, 1, 0]);
    expect(await on.counts(second)).toEqual([0, 0, 0, 0]);
  });

  test('of a switch is not: jambonz has none of it', async () => {
    const { switch: own } = await on.ok('post', 'switches', { name: 'kam' });
    await trunk({ name: 'Gamma', switch_id: own.id });
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const played = await placeCall({ buyers: scripts([buyer, ANSWER]) });
    expect(targets(played)[0]![0]).not.toHaveProperty('trunk');
  });
});

const NOWHERE = '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';

describe('a request', () => {
  const PATHS = ['call', 'status', 'dial', 'confirm'];
  const build = async (path: string) => {
    await on.offer([await on.buyer()]);
    const query = new URLSearchParams({
      ...(path === 'dial' && { call: NOWHERE, round: '1', number: on.companyNumber.slice(1) }),
      ...(path === 'confirm' && {
        call: NOWHERE,
        attempt: NOWHERE,
        number: on.companyNumber.slice(1),
      }),
    }).toString();
    const payload = {
      call_sid: 'x',
      from: '+13105550188',
      to: on.companyNumber,
      direction: 'inbound',
    };
    return { url: `${here.caller.hook(path)}${query && '?'}${query}`, payload };
  };
  test.each(PATHS)('to %s is refused with another secret, or at another time', async (path) => {
    const { url, payload } = await build(path);
    const now = world.clock.read().getTime();
    const at = (seconds: number) => new Date(now + seconds * 1000);
    for (const more of [{ secret: 'another' }, { at: at(-301) }, { at: at(301) }])
      expect((await here.caller.send(url, payload, more)).status).toBe(401);
    const right = await here.caller.send(url, payload, { at: at(-299) });
    expect([200, 404]).toContain(right.status);
  });

  test.each(PATHS)(
    'to %s is refused without a signature, or with one of another body',
    async (path) => {
      const { url, payload } = await build(path);
      const route = url.slice('https://calls.example.com'.length);
      const sign = (text: string) =>
        signJambonz(here.server.webhook_secret, text, world.clock.read());
      const text = JSON.stringify(payload);
      for (const signature of [
        undefined,
        '',
        'v1=',
        sign(`${text} `),
        sign(text).slice(0, -1),
        sign(text).toUpperCase(),
      ]) {
        const headers = {
          'Content-Type': 'application/json',
          'X-Forwarded-For': `10.2.0.${String(PATHS.indexOf(path))}${String(signature).length % 10}`,
          ...(signature !== undefined && { 'Jambonz-Signature': signature }),
        };
        const res = await world.api('post', route, { auth: null, headers, body: text });
        expect([signature, res.status]).toEqual([signature, 401]);
      }
    },
  );

  test.each(['', ' ', '{', 'null', '[]', '1e999'])(
    'of %j is refused, signed or not',
    async (text) => {
      const right = signJambonz(here.server.webhook_secret, text, world.clock.read());
      for (const signature of [right, 't=1,v1=2'])
        for (const path of ['telephony/jambonz/call', 'buyers']) {
          const headers = { 'Content-Type': 'application/json', 'Jambonz-Signature': signature };
          const res = await world.api('post', path, { auth: null, headers, body: text });
          expect([path, [400, 401, 404, 422].includes(res.status)]).toEqual([path, true]);
        }
    },
  );

  test('about a number of another company is that company’s', async () => {
    const other = await world.addCompany('Other');
    await on.offer([await on.buyer()]);
    const played = await placeCall({});
    const { id } = await on.loadCall(played);
    const [row] = await world.sql<Fields>('SELECT company_id FROM calls WHERE id = $1', [id]);
    expect(String(row!.company_id)).toBe(String(world.company.id));
    expect((await other.api('get', `calls/${id}`)).status).toBe(404);
  });

  test('about a leg that others have dialed changes nothing', async () => {
    await on.offer([await on.buyer()]);
    const status = (more: Fields) =>
      here.caller.send(here.caller.hook('status'), {
        ...{
          call_sid: 'x',
          parent_call_sid: 'y',
          to: on.companyNumber,
          call_status: 'in-progress',
        },
        ...more,
      });
    const own = on.companyNumber.slice(1);
    for (const customerData of [
      undefined,
      { number: own },
      { number: own, call: NOWHERE, legs: [] },
      { number: own, call: 'x', legs: { [on.companyNumber]: NOWHERE } },
      { number: own, call: NOWHERE, legs: { __proto__: NOWHERE } },
      'text',
    ])
      expect([200, 422]).toContain((await status({ customerData })).status);
    expect(await world.sql('SELECT FROM calls WHERE company_id = $1', [world.company.id])).toEqual(
      [],
    );
  });
});
