import { CALLER, dialed, softswitch } from '../support/softswitch';

/** Monday 08:30 in New York. */
const { ok, buyer, offer, begin, errors } = softswitch('2026-06-01T12:30:00Z');

type Fields = Record<string, unknown>;

describe('an explanation', () => {
  const ask = async (offer_id: number, more: Fields = {}) =>
    (await ok('post', 'routing/explain', { offer_id, caller_number: CALLER, ...more })).decision;

  test('names buyers and reasons for any time, tokens and caller; reserves nothing', async () => {
    const open = { business_hours_schedule: [{ schedule: [{ day: 1, times: ['09:00..16:59'] }] }] };
    const [one, two] = [
      await buyer({ tier: 1, ...open, attempt_daily_limit: 5 }),
      await buyer({ tier: 2, record_token_filter_list: ['state:CA'] }),
    ];
    const offer_id = await offer({ buyer_ids: [one, two] });
    const outcome = ({
      candidates,
      buyer_ids,
      action,
    }: {
      candidates: { buyer_id: number; reason: string | null }[];
      buyer_ids: number[];
      action: string;
    }) => [
      action,
      buyer_ids,
      Object.fromEntries(candidates.map(({ buyer_id, reason }) => [buyer_id, reason])),
    ];
    expect(outcome(await ask(offer_id))).toEqual([
      'hang_up',
      [],
      { [one]: 'closed', [two]: 'filter_unmet' },
    ]);
    expect(outcome(await ask(offer_id, { tokens: { state: 'ca' } }))).toEqual([
      'dial',
      [two],
      { [one]: 'closed', [two]: null },
    ]);
    expect(outcome(await ask(offer_id, { at: '2026-06-01 10:00:00 -0400' }))).toEqual([
      'dial',
      [one],
      { [one]: null, [two]: 'filter_unmet' },
    ]);
    const closed = (await ask(offer_id)).candidates.find(
      ({ buyer_id }: { buyer_id: number }) => buyer_id === one,
    );
    expect(closed).toMatchObject({
      message: 'the buyer is closed until 2026-06-01 09:00 America/New_York',
      details: { opens_at: '2026-06-01T13:00:00.000Z' },
    });
    expect((await ok('get', `buyers/${one}`)).buyer).toMatchObject({
      attempt_total_used: 0,
      concurrency_cap_used: 0,
    });
  });

  test('finds the offer by its id, its uuid and the own identifier of the company', async () => {
    const own = '987654321';
    const offer_id = await offer({ buyer_ids: [await buyer()], user_offer_id: own });
    const { uuid } = (await ok('get', `offers/${offer_id}`)).offer;
    for (const offer_id_sent of [offer_id, String(offer_id), uuid, own]) {
      const body = { offer_id: offer_id_sent, caller_number: CALLER };
      expect((await ok('post', 'routing/explain', body)).decision.offer_id).toBe(offer_id);
    }
    await ok('delete', `offers/${offer_id}`);
    for (const gone of [offer_id, uuid, own, 123_456_789, 'none'])
      expect(await errors('routing/explain', { offer_id: gone })).toEqual([
        422,
        { offer_id: [expect.stringContaining(String(gone))] },
      ]);
  });

  test('repeats its draw with the same seed, also that of the decision of a call', async () => {
    const buyers = await Promise.all(Array.from({ length: 8 }, (_, n) => buyer({ weight: n + 1 })));
    const offer_id = await offer({ buyer_ids: buyers });
    const [first, again] = [await ask(offer_id, { seed: 'x' }), await ask(offer_id, { seed: 'x' })];
    expect(again).toEqual(first);
    const call = await begin(offer_id);
    const [decision] = (await ok('get', `calls/${call.id}/decision`)).decisions;
    const { buyer_ids } = await ask(offer_id, { seed: decision.seed });
    expect(buyer_ids).toEqual(dialed(call.instruction));
  });
});
