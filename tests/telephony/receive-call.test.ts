import { standingClock } from '../support/clock';
import { ownNumber } from '../support/leads';
import { switchboard } from '../support/switchboard';
import { createWorld, type World } from '../support/world';

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';
const CALLER = '+13105550188';

let world: World;
let on: ReturnType<typeof switchboard>;
const time = standingClock(MONDAY);
beforeAll(async () => {
  world = await createWorld({
    clock: time.read,
    environment: { PUBLIC_URL: 'https://calls.example.com', TRUST_PROXY: '1' },
  });
});
beforeEach(async () => {
  time.set(MONDAY);
  world.company = await world.addCompany();
  on = switchboard(world, time);
});
afterAll(() => world.close());

describe('a call that the carrier brings', () => {
  test('is greeted, connected to the buyer who answers, and counted once', async () => {
    const one = await on.buyer({ dtmf_tones: 'W1' });
    const id = await on.offer([one], { greeting_message: 'Welcome.' });
    const played = await on.place({
      to: on.own,
      buyers: { [one.number]: { does: 'answer', after: 4, talks: 65 } },
      more: { CallerCity: 'LOS ANGELES' },
    });
    expect(played).toMatchObject({
      heard: ['Welcome.'],
      rung: [[one.number]],
      connected: one.number,
      asked: [],
    });
    expect(played.dials[0]!.attributes).toMatchObject({ timeout: '30', callerId: CALLER });
    expect(played.dials[0]!.attributes.record).toBeUndefined();
    expect(played.dials[0]!.children[0]!.attributes.sendDigits).toBe('ww1');
    const ended = {
      status: 'completed',
      carrier: 'twilio',
      offer_id: String(id),
      buyer_id: String(one.id),
      answered_duration: 65,
      total_duration: 69,
    };
    expect(await on.callOf(played)).toMatchObject({
      ...ended,
      caller_city: 'LOS ANGELES',
      caller_country: 'US',
      recording_url: null,
      hangup_cause: 'completed',
    });
    expect([await on.attempts(played), await on.counts(one), await on.slots()]).toEqual([
      ['completed'],
      [1, 1, 1, 0],
      0,
    ]);
  });

  test.each(['busy', 'no-answer', 'failed'] as const)(
    'goes on to the next after %s; it is greeted once',
    async (does) => {
      const [one, two] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
      await on.offer([one, two], { greeting_message: 'Welcome.' });
      const played = await on.place({
        to: on.own,
        buyers: { [one.number]: { does }, [two.number]: { does: 'answer' } },
      });
      expect(played).toMatchObject({
        heard: ['Welcome.'],
        rung: [[one.number], [two.number]],
        connected: two.number,
      });
      expect(await on.attempts(played)).toEqual([does.replace('-', '_'), 'completed']);
      expect([await on.counts(one), await on.counts(two), await on.slots()]).toEqual([
        [1, 0, 0, 0],
        [1, 1, 1, 0],
        0,
      ]);
    },
  );

  test('is declined by who presses another key or nothing, and accepted by 1', async () => {
    const asked = { press_one_to_accept: true };
    const [one, two, three] = [
      await on.buyer({ tier: 1, ...asked }),
      await on.buyer({ tier: 2, ...asked }),
      await on.buyer({ tier: 3, ...asked }),
    ];
    await on.offer([one, two, three]);
    const buyers = {
      [one.number]: { does: 'answer', key: '2' },
      [two.number]: { does: 'answer', key: null },
      [three.number]: { does: 'answer', key: '1', talks: 20 },
    } as const;
    const played = await on.place({ to: on.own, buyers });
    expect(played).toMatchObject({
      rung: [[one.number], [two.number], [three.number]],
      connected: three.number,
    });
    expect(played.asked).toEqual(Array(3).fill('Press 1 to take this call.'));
    expect(await on.attempts(played)).toEqual(['declined', 'declined', 'completed']);
    expect([await on.counts(one), await on.counts(two), await on.counts(three)]).toEqual([
      [1, 0, 0, 0],
      [1, 0, 0, 0],
      [1, 1, 1, 0],
    ]);
    expect(await on.callOf(played)).toMatchObject({ answered_duration: 20 });
  });

  test.each([false, true])(
    'rings a group at once, and goes to the first to take it; with press-one: %s',
    async (press_one_to_accept) => {
      const [a, b, c] = [
        await on.buyer({ press_one_to_accept }),
        await on.buyer({ press_one_to_accept }),
        await on.buyer({ press_one_to_accept }),
      ];
      await on.atOnce([a, b, c]);
      const buyers = {
        [a.number]: { does: 'busy', after: 1 },
        [b.number]: { does: 'answer', after: 5, key: '1' },
        [c.number]: { does: 'answer', after: 9, key: '1' },
      } as const;
      const played = await on.place({ to: on.own, buyers });
      expect([played.rung.map((numbers) => numbers.toSorted()), played.connected]).toEqual([
        [[a.number, b.number, c.number].sort()],
        b.number,
      ]);
      expect((await on.attempts(played)).sort()).toEqual(['busy', 'completed', 'released']);
      expect([
        await on.counts(a),
        await on.counts(b),
        await on.counts(c),
        await on.slots(),
      ]).toEqual([[1, 0, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0], 0]);
    },
  );

  test('of a group that nobody of takes goes on to the fallback', async () => {
    const members = [await on.buyer({ timeout_seconds: 20 }), await on.buyer(), await on.buyer()];
    await on.atOnce(members);
    const played = await on.place({ to: on.own });
    expect([played.rung.length, played.connected, (await on.attempts(played)).sort()]).toEqual([
      1,
      null,
      ['no_answer', 'no_answer', 'no_answer'],
    ]);
    for (const member of members) expect(await on.counts(member)).toEqual([1, 0, 0, 0]);
  });

  test.each([
    [
      'message',
      { fallback_message: 'Call <later> & "again".' },
      { heard: ['Call <later> & "again".'], voicemail: false, rung: 1 },
    ],
    [
      'voicemail',
      { fallback_message: 'After the tone.' },
      { heard: ['After the tone.'], voicemail: true, rung: 1 },
    ],
    ['number', { fallback_number: '+12125550999' }, { heard: [], voicemail: false, rung: 2 }],
    ['hang_up', {}, { heard: [], voicemail: false, rung: 1 }],
  ])('that nobody takes ends with the fallback %s', async (fallback_type, fields, expected) => {
    const one = await on.buyer();
    await on.offer([one], { fallback_type, ...fields });
    const played = await on.place({ to: on.own, buyers: { '+12125550999': { does: 'answer' } } });
    expect({ heard: played.heard, voicemail: played.voicemail, rung: played.rung.length }).toEqual(
      expected,
    );
    expect(played.rejected).toBe(false);
    if (fallback_type === 'number')
      expect([played.rung[1], played.connected]).toEqual([['+12125550999'], '+12125550999']);
    const recording_url =
      fallback_type === 'voicemail' ? expect.stringContaining('-voicemail') : null;
    expect(await on.callOf(played)).toMatchObject({
      status: 'no_answer',
      fallback: fallback_type,
      hangup_cause: 'no_buyer_available',
      recording_url,
    });
    expect([await on.counts(one), await on.slots()]).toEqual([[1, 0, 0, 0], 0]);
  });

  test.each([
    'anonymous',
    'Restricted',
    '+266696687',
    '+7378742833',
    'sip:ada@pbx.example.com',
    '',
  ])('from %j is withheld', async (from) => {
    const one = await on.buyer();
    await on.offer([one]);
    const played = await on.place({
      from,
      to: on.own,
      buyers: { [one.number]: { does: 'answer' } },
    });
    expect([played.connected, played.dials[0]!.attributes.callerId]).toEqual([one.number, on.own]);
    expect(await on.callOf(played)).toMatchObject({
      caller_number: null,
      from_number: null,
      to_number: on.own.slice(1),
    });
  });

  test('of somebody on the blacklist is rejected before a word is said', async () => {
    const one = await on.buyer();
    await on.offer([one], {
      greeting_message: 'Welcome.',
      fallback_type: 'message',
      fallback_message: 'Sorry.',
    });
    await on.ok('post', 'contacts/caller_block', { caller_ids: [CALLER] });
    const played = await on.place({ to: on.own });
    expect(played).toMatchObject({ rejected: true, heard: [], rung: [] });
    expect([(await on.callOf(played)).hangup_cause, await on.counts(one)]).toEqual([
      'blacklisted',
      [0, 0, 0, 0],
    ]);
  });

  test('goes to a SIP buyer, and is recorded where one of those dialed asks for it', async () => {
    const one = await on.buyer({
      number: 'sip:ada@pbx.example.com;transport=tcp',
      record_calls: true,
      dtmf_tones: '1',
    });
    await on.offer([one]);
    const played = await on.place({ to: on.own, buyers: { [one.number]: { does: 'answer' } } });
    const [dial] = played.dials;
    expect([dial!.attributes.record, dial!.children[0]!.name, played.connected]).toEqual([
      'record-from-answer',
      'Sip',
      one.number,
    ]);
    expect(await on.callOf(played)).toMatchObject({
      recording_url: expect.stringContaining('-call'),
      status: 'completed',
    });
  });

  test('to a number that forwards goes to its buyer alone, without an offer', async () => {
    const [one, other] = [await on.buyer(), await on.buyer()];
    await on.offer([other]);
    await world.sql(
      "UPDATE numbers SET forward_type = 'buyer_id', buyer_id = $2 WHERE company_id = $1",
      [world.company.id, one.id],
    );
    const first = await on.place({ to: on.own, buyers: { [one.number]: { does: 'answer' } } });
    expect([first.connected, (await on.callOf(first)).offer_id]).toEqual([one.number, null]);
    const second = await on.place({
      to: on.own,
      from: '+13105550189',
      buyers: { [one.number]: { does: 'busy' } },
    });
    expect([second.rung, second.connected, (await on.callOf(second)).hangup_cause]).toEqual([
      [[one.number]],
      null,
      'no_buyer_available',
    ]);
    expect([await on.counts(one), await on.counts(other)]).toEqual([
      [2, 1, 1, 0],
      [0, 0, 0, 0],
    ]);
  });

  test('to a number that leads nowhere is rejected', async () => {
    await ownNumber(world, world.company, on.own.slice(1));
    expect(await on.place({ to: on.own })).toMatchObject({ rejected: true, rung: [] });
  });

  test('whose caller gives up while it rings is over, and nobody else is dialed for it', async () => {
    const [one, two] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([one, two]);
    const played = await on.place({ to: on.own, gives_up: 6 });
    expect([await on.attempts(played), await on.callOf(played)]).toMatchObject([
      ['canceled'],
      { status: 'no_answer', hangup_cause: 'caller_hung_up' },
    ]);
    expect([await on.counts(one), await on.counts(two), await on.slots()]).toEqual([
      [1, 0, 0, 0],
      [0, 0, 0, 0],
      0,
    ]);
  });

  test('holds the slots of its buyer as long as the carrier may leave them connected, without a word', async () => {
    const one = await on.buyer();
    await on.offer([one]);
    const { dials, posts } = await on.place({
      to: on.own,
      buyers: { [one.number]: { does: 'busy' } },
    });
    expect([dials.length, posts.length]).toEqual([1, 6]);
    const [sid, number] = ['CA-lease', on.own];
    const [dial] = (
      await on.tell(on.hook('voice'), { CallSid: sid, From: '+13105550190', To: number })
    ).children;
    const lease = async () =>
      (
        await world.sql<{ lease_until: Date }>(
          'SELECT lease_until FROM call_slots WHERE company_id = $1',
          [world.company.id],
        )
      )[0]!.lease_until;
    const at = time.read().getTime();
    expect(await lease()).toEqual(new Date(at + 90_000));
    await on.tell(dial!.children[0]!.attributes.statusCallback!, { CallStatus: 'in-progress' });
    expect(await lease()).toEqual(new Date(at + 14_460_000));
  });
});
