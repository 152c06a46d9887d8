import { CALLER, on, setUp, time, world } from '../support/carrier-calls';
import { ownNumber } from '../support/leads';

setUp();

describe('a call from a carrier', () => {
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
  ])('that no buyer answers ends with the fallback %s', async (fallback_type, fields, expected) => {
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

  test('from a number on the blacklist is rejected before the greeting', async () => {
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

  test('goes to a SIP buyer, which hears its tones, and is recorded if the buyer wants it', async () => {
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

  test('to a number that forwards goes to its buyer only, without an offer', async () => {
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

  test('to a number that forwards to nothing is rejected', async () => {
    await ownNumber(world, world.company, on.own.slice(1));
    expect(await on.place({ to: on.own })).toMatchObject({ rejected: true, rung: [] });
  });

  test('whose caller hangs up while it rings is over, and no other buyer is dialed', async () => {
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

  test('holds its slots as long as the carrier may send no event of a connection', async () => {
    const one = await on.buyer();
    await on.offer([one]);
    const { dials, posts } = await on.place({
      to: on.own,
      buyers: { [one.number]: { does: 'busy' } },
    });
    expect([dials.length, posts.length]).toEqual([1, 6]);
    const [sid, number] = ['CA-lease', on.own];
    const [dial] = (
      await on.twiml(on.hook('voice'), { CallSid: sid, From: '+13105550190', To: number })
    ).children;
    const lease = async () =>
      (
        await world.sql<{ lease_until: Date }>(
          'SELECT lease_until FROM call_slots WHERE company_id = $1',
          [world.company.id],
        )
      )[0]!.lease_until;
    const at = time.read().getTime();
    expect(await lease()).toEqual(new Date(at + 14_490_000));
    await on.twiml(dial!.children[0]!.attributes.statusCallback!, { CallStatus: 'in-progress' });
    expect(await lease()).toEqual(new Date(at + 14_460_000));
  });
});
