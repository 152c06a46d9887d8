import { CALLER, on, setUp } from '../../support/carrier-calls';

setUp();

describe('a call from a carrier', () => {
  test('is greeted, connected to the buyer who answers, and counted once', async () => {
    const buyer = await on.buyer({ dtmf_tones: 'W1' });
    const id = await on.offer([buyer], { greeting_message: 'Welcome.' });
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { [buyer.number]: { does: 'answer', after: 4, talks: 65 } },
      more: { CallerCity: 'LOS ANGELES' },
    });
    expect(played).toMatchObject({
      heard: ['Welcome.'],
      rung: [[buyer.number]],
      connected: buyer.number,
      prompts: [],
    });
    expect(played.dials[0]!.attributes).toMatchObject({ timeout: '30', callerId: CALLER });
    expect(played.dials[0]!.attributes.record).toBeUndefined();
    expect(played.dials[0]!.children[0]!.attributes.sendDigits).toBe('ww1');
    const ended = {
      status: 'completed',
      carrier: 'twilio',
      offer_id: String(id),
      buyer_id: String(buyer.id),
      answered_duration: 65,
      total_duration: 69,
    };
    expect(await on.loadCall(played)).toMatchObject({
      ...ended,
      caller_city: 'LOS ANGELES',
      caller_country: 'US',
      recording_url: null,
      hangup_cause: 'completed',
    });
    expect([await on.attempts(played), await on.counts(buyer), await on.slots()]).toEqual([
      ['completed'],
      [1, 1, 1, 0],
      0,
    ]);
  });

  test('is not lost for a detail that is too long: it is cut', async () => {
    const buyer = await on.buyer({});
    await on.offer([buyer]);
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { [buyer.number]: { does: 'answer' } },
      more: { CallerCity: '😀'.repeat(300), FromCountry: 'x'.repeat(300) },
    });
    expect(played.connected).toBe(buyer.number);
    expect((await on.loadCall(played)).caller_city).toBe('😀'.repeat(255));
  });

  test.each(['busy', 'no-answer', 'failed'] as const)(
    'goes to the next buyer after %s; it is greeted once',
    async (does) => {
      const [firstBuyer, secondBuyer] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
      await on.offer([firstBuyer, secondBuyer], { greeting_message: 'Welcome.' });
      const played = await on.placeCall({
        to: on.companyNumber,
        buyers: { [firstBuyer.number]: { does }, [secondBuyer.number]: { does: 'answer' } },
      });
      expect(played).toMatchObject({
        heard: ['Welcome.'],
        rung: [[firstBuyer.number], [secondBuyer.number]],
        connected: secondBuyer.number,
      });
      expect(await on.attempts(played)).toEqual([does.replace('-', '_'), 'completed']);
      expect([await on.counts(firstBuyer), await on.counts(secondBuyer), await on.slots()]).toEqual(
        [[1, 0, 0, 0], [1, 1, 1, 0], 0],
      );
    },
  );

  test('is declined by another key or none, and accepted by 1', async () => {
    const pressOne = { press_one_to_accept: true };
    const [firstBuyer, secondBuyer, thirdBuyer] = [
      await on.buyer({ tier: 1, ...pressOne }),
      await on.buyer({ tier: 2, ...pressOne }),
      await on.buyer({ tier: 3, ...pressOne }),
    ];
    await on.offer([firstBuyer, secondBuyer, thirdBuyer]);
    const buyers = {
      [firstBuyer.number]: { does: 'answer', key: '2' },
      [secondBuyer.number]: { does: 'answer', key: null },
      [thirdBuyer.number]: { does: 'answer', key: '1', talks: 20 },
    } as const;
    const played = await on.placeCall({ to: on.companyNumber, buyers });
    expect(played).toMatchObject({
      rung: [[firstBuyer.number], [secondBuyer.number], [thirdBuyer.number]],
      connected: thirdBuyer.number,
    });
    expect(played.prompts).toEqual(Array(3).fill('Press 1 to take this call.'));
    expect(await on.attempts(played)).toEqual(['declined', 'declined', 'completed']);
    expect([
      await on.counts(firstBuyer),
      await on.counts(secondBuyer),
      await on.counts(thirdBuyer),
    ]).toEqual([
      [1, 0, 0, 0],
      [1, 0, 0, 0],
      [1, 1, 1, 0],
    ]);
    expect(await on.loadCall(played)).toMatchObject({ answered_duration: 20 });
  });

  test.each([false, true])(
    'rings a group at once, and goes to the first to accept; with press-one: %s',
    async (pressOneToAccept) => {
      const [a, b, c] = [
        await on.buyer({ press_one_to_accept: pressOneToAccept }),
        await on.buyer({ press_one_to_accept: pressOneToAccept }),
        await on.buyer({ press_one_to_accept: pressOneToAccept }),
      ];
      await on.atOnce([a, b, c]);
      const buyers = {
        [a.number]: { does: 'busy', after: 1 },
        [b.number]: { does: 'answer', after: 5, key: '1' },
        [c.number]: { does: 'answer', after: 9, key: '1' },
      } as const;
      const played = await on.placeCall({ to: on.companyNumber, buyers });
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

  test('that no buyer of a group answers goes to the fallback', async () => {
    const members = [await on.buyer({ timeout_seconds: 20 }), await on.buyer(), await on.buyer()];
    await on.atOnce(members);
    const played = await on.placeCall({ to: on.companyNumber });
    expect([played.rung.length, played.connected, (await on.attempts(played)).sort()]).toEqual([
      1,
      null,
      ['no_answer', 'no_answer', 'no_answer'],
    ]);
    for (const member of members) expect(await on.counts(member)).toEqual([1, 0, 0, 0]);
  });
});
