import { CALLER, on, setUp } from '../support/carrier-calls';

setUp();

describe('a call from a carrier', () => {
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

  test('is not lost for a detail that is too long: it is cut', async () => {
    const one = await on.buyer({});
    await on.offer([one]);
    const played = await on.place({
      to: on.own,
      buyers: { [one.number]: { does: 'answer' } },
      more: { CallerCity: '😀'.repeat(300), FromCountry: 'x'.repeat(300) },
    });
    expect(played.connected).toBe(one.number);
    expect((await on.callOf(played)).caller_city).toBe('😀'.repeat(255));
  });

  test.each(['busy', 'no-answer', 'failed'] as const)(
    'goes to the next buyer after %s; it is greeted once',
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

  test('is declined by another key or none, and accepted by 1', async () => {
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
    'rings a group at once, and goes to the first to accept; with press-one: %s',
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

  test('that no buyer of a group answers goes to the fallback', async () => {
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
});
