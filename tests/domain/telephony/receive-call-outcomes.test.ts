import { CALLER, on, setUp, time, world } from '../../support/carrier-calls';
import { ownNumber } from '../../support/leads';

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
  ])('that no buyer answers ends with the fallback %s', async (fallbackType, fields, expected) => {
    const buyer = await on.buyer();
    await on.offer([buyer], { fallback_type: fallbackType, ...fields });
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { '+12125550999': { does: 'answer' } },
    });
    expect({ heard: played.heard, voicemail: played.voicemail, rung: played.rung.length }).toEqual(
      expected,
    );
    expect(played.rejected).toBe(false);
    if (fallbackType === 'number')
      expect([played.rung[1], played.connected]).toEqual([['+12125550999'], '+12125550999']);
    const recordingUrl =
      fallbackType === 'voicemail' ? expect.stringContaining('-voicemail') : null;
    expect(await on.loadCall(played)).toMatchObject({
      status: 'no_answer',
      fallback: fallbackType,
      hangup_cause: 'no_buyer_available',
      recording_url: recordingUrl,
    });
    expect([await on.counts(buyer), await on.slots()]).toEqual([[1, 0, 0, 0], 0]);
  });

  test.each([
    'anonymous',
    'Restricted',
    '+266696687',
    '+7378742833',
    'sip:ada@pbx.example.com',
    '',
  ])('from %j is withheld', async (from) => {
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const played = await on.placeCall({
      from,
      to: on.companyNumber,
      buyers: { [buyer.number]: { does: 'answer' } },
    });
    expect([played.connected, played.dials[0]!.attributes.callerId]).toEqual([
      buyer.number,
      on.companyNumber,
    ]);
    expect(await on.loadCall(played)).toMatchObject({
      caller_number: null,
      from_number: null,
      to_number: on.companyNumber.slice(1),
    });
  });

  test('from a number on the blacklist is rejected before the greeting', async () => {
    const buyer = await on.buyer();
    await on.offer([buyer], {
      greeting_message: 'Welcome.',
      fallback_type: 'message',
      fallback_message: 'Sorry.',
    });
    await on.ok('post', 'contacts/caller_block', { caller_ids: [CALLER] });
    const played = await on.placeCall({ to: on.companyNumber });
    expect(played).toMatchObject({ rejected: true, heard: [], rung: [] });
    expect([(await on.loadCall(played)).hangup_cause, await on.counts(buyer)]).toEqual([
      'blacklisted',
      [0, 0, 0, 0],
    ]);
  });

  test('goes to a SIP buyer, which hears its tones, and is recorded if the buyer wants it', async () => {
    const buyer = await on.buyer({
      number: 'sip:ada@pbx.example.com;transport=tcp',
      record_calls: true,
      dtmf_tones: '1',
    });
    await on.offer([buyer]);
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { [buyer.number]: { does: 'answer' } },
    });
    const [dial] = played.dials;
    expect([dial!.attributes.record, dial!.children[0]!.name, played.connected]).toEqual([
      'record-from-answer',
      'Sip',
      buyer.number,
    ]);
    expect(await on.loadCall(played)).toMatchObject({
      recording_url: expect.stringContaining('-call'),
      status: 'completed',
    });
  });

  test('to a number that forwards goes to its buyer only, without an offer', async () => {
    const [firstBuyer, otherBuyer] = [await on.buyer(), await on.buyer()];
    await on.offer([otherBuyer]);
    await world.sql(
      "UPDATE numbers SET forward_type = 'buyer_id', buyer_id = $2 WHERE company_id = $1",
      [world.company.id, firstBuyer.id],
    );
    const first = await on.placeCall({
      to: on.companyNumber,
      buyers: { [firstBuyer.number]: { does: 'answer' } },
    });
    expect([first.connected, (await on.loadCall(first)).offer_id]).toEqual([
      firstBuyer.number,
      null,
    ]);
    const second = await on.placeCall({
      to: on.companyNumber,
      from: '+13105550189',
      buyers: { [firstBuyer.number]: { does: 'busy' } },
    });
    expect([second.rung, second.connected, (await on.loadCall(second)).hangup_cause]).toEqual([
      [[firstBuyer.number]],
      null,
      'no_buyer_available',
    ]);
    expect([await on.counts(firstBuyer), await on.counts(otherBuyer)]).toEqual([
      [2, 1, 1, 0],
      [0, 0, 0, 0],
    ]);
  });

  test('to a number that forwards to nothing is rejected', async () => {
    await ownNumber(world, world.company, on.companyNumber.slice(1));
    expect(await on.placeCall({ to: on.companyNumber })).toMatchObject({
      rejected: true,
      rung: [],
    });
  });

  test('whose caller hangs up while it rings is over, and no other buyer is dialed', async () => {
    const [firstBuyer, secondBuyer] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([firstBuyer, secondBuyer]);
    const played = await on.placeCall({ to: on.companyNumber, gives_up: 6 });
    expect([await on.attempts(played), await on.loadCall(played)]).toMatchObject([
      ['canceled'],
      { status: 'no_answer', hangup_cause: 'caller_hung_up' },
    ]);
    expect([await on.counts(firstBuyer), await on.counts(secondBuyer), await on.slots()]).toEqual([
      [1, 0, 0, 0],
      [0, 0, 0, 0],
      0,
    ]);
  });

  test('holds its slots as long as the carrier may send no event of a connection', async () => {
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const { dials, posts } = await on.placeCall({
      to: on.companyNumber,
      buyers: { [buyer.number]: { does: 'busy' } },
    });
    expect([dials.length, posts.length]).toEqual([1, 6]);
    const [sid, number] = ['CA-lease', on.companyNumber];
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
