import { CALLER, dialed, softswitch } from '../../support/softswitch';

/** Monday 08:30 in New York. */
const { ok, buyer, offer, begin, errors } = softswitch('2026-06-01T12:30:00Z');

type Fields = Record<string, unknown>;

describe('an explanation', () => {
  const ask = async (offerId: number, more: Fields = {}) =>
    (await ok('post', 'routing/explain', { offer_id: offerId, caller_number: CALLER, ...more }))
      .decision;

  test('has its candidates in pages, and how many are passed over for each reason', async () => {
    const paused = [await buyer({ paused: true }), await buyer({ paused: true })];
    const open = await buyer({});
    const filtered = await buyer({ record_token_filter_list: ['state:CA'] });
    const offerId = await offer({ buyer_ids: [...paused, open, filtered] });
    const page = async (more: Fields) => {
      const { decision, passed_over, total_count } = await ok('post', 'routing/explain', {
        offer_id: offerId,
        caller_number: CALLER,
        ...more,
      });
      const ids = decision.candidates.map(({ buyer_id }: { buyer_id: number }) => buyer_id);
      return { ids, passed_over, total_count, dialed: decision.buyer_ids };
    };
    const totals = {
      passed_over: [
        { reason: 'paused', count: 2 },
        { reason: 'filter_unmet', count: 1 },
      ],
      total_count: 4,
      dialed: [open],
    };
    const all = [open, ...paused, filtered];
    expect(await page({})).toEqual({ ids: all, ...totals });
    expect(await page({ per_page: 3 })).toEqual({ ids: all.slice(0, 3), ...totals });
    expect(await page({ per_page: 3, page: 2 })).toEqual({ ids: all.slice(3), ...totals });
    expect(await page({ per_page: 3, page: 3 })).toEqual({ ids: [], ...totals });
  });

  test('names buyers and reasons for any time, tokens and caller; reserves nothing', async () => {
    const open = { business_hours_schedule: [{ schedule: [{ day: 1, times: ['09:00..16:59'] }] }] };
    const [firstBuyer, secondBuyer] = [
      await buyer({ tier: 1, ...open, attempt_daily_limit: 5 }),
      await buyer({ tier: 2, record_token_filter_list: ['state:CA'] }),
    ];
    const offerId = await offer({ buyer_ids: [firstBuyer, secondBuyer] });
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
    expect(outcome(await ask(offerId))).toEqual([
      'hang_up',
      [],
      { [firstBuyer]: 'closed', [secondBuyer]: 'filter_unmet' },
    ]);
    expect(outcome(await ask(offerId, { tokens: { state: 'ca' } }))).toEqual([
      'dial',
      [secondBuyer],
      { [firstBuyer]: 'closed', [secondBuyer]: null },
    ]);
    expect(outcome(await ask(offerId, { at: '2026-06-01 10:00:00 -0400' }))).toEqual([
      'dial',
      [firstBuyer],
      { [firstBuyer]: null, [secondBuyer]: 'filter_unmet' },
    ]);
    const closed = (await ask(offerId)).candidates.find(
      ({ buyer_id }: { buyer_id: number }) => buyer_id === firstBuyer,
    );
    expect(closed).toMatchObject({
      message: 'the buyer is closed until 2026-06-01 09:00 America/New_York',
      details: { opens_at: '2026-06-01T13:00:00.000Z' },
    });
    expect((await ok('get', `buyers/${firstBuyer}`)).buyer).toMatchObject({
      attempt_total_used: 0,
      concurrency_cap_used: 0,
    });
  });

  test('finds the offer by its id, its uuid and the own identifier of the company', async () => {
    const ownIdentifier = '987654321';
    const offerId = await offer({ buyer_ids: [await buyer()], user_offer_id: ownIdentifier });
    const { uuid } = (await ok('get', `offers/${offerId}`)).offer;
    for (const offerIdSent of [offerId, String(offerId), uuid, ownIdentifier]) {
      const body = { offer_id: offerIdSent, caller_number: CALLER };
      expect((await ok('post', 'routing/explain', body)).decision.offer_id).toBe(offerId);
    }
    await ok('delete', `offers/${offerId}`);
    for (const reference of [offerId, uuid, ownIdentifier, 123_456_789, 'none'])
      expect(await errors('routing/explain', { offer_id: reference })).toEqual([
        422,
        { offer_id: [expect.stringContaining(String(reference))] },
      ]);
  });

  test('repeats its draw with the same seed, also that of the decision of a call', async () => {
    const buyers = await Promise.all(Array.from({ length: 8 }, (_, n) => buyer({ weight: n + 1 })));
    const offerId = await offer({ buyer_ids: buyers });
    const [first, second] = [await ask(offerId, { seed: 'x' }), await ask(offerId, { seed: 'x' })];
    expect(second).toEqual(first);
    const call = await begin(offerId);
    const [decision] = (await ok('get', `calls/${call.id}/decision`)).decisions;
    const { buyer_ids } = await ask(offerId, { seed: decision.seed });
    expect(buyer_ids).toEqual(dialed(call.instruction));
  });
});
