import { testScenarios } from './support/sip-world';

const CAP = 50;
const CALLS = 140;
const RATE = 20;

testScenarios(
  {
    [`${CALLS} calls, ${RATE} a second, to a buyer that takes ${CAP} at a time`]: async (sip) => {
      const buyer = await sip.startUas('answers');
      const fields = { concurrency_cap_limit: CAP };
      const { number, buyer_ids } = await sip.openOffer([{ uas: buyer, fields }]);
      const calls = await sip.placeCalls({ number, count: CALLS, rate: RATE });
      // All calls are decided before the first caller hangs up.
      await calls.until('refused 480', CALLS - CAP);
      await calls.until('answered', CAP);
      await buyer.until('answered', CAP);
      expect(await sip.countSlots(buyer_ids)).toBe(CAP);
      const connected = calls.ids.filter((id) => calls.log(id).includes('answered'));
      expect(connected).toHaveLength(CAP);
      expect(calls.ids.filter((id) => calls.log(id).includes('refused 480'))).toHaveLength(
        CALLS - CAP,
      );
      await calls.hangUp(connected);
      await calls.finish();
      await sip.waitForFreeSlots(buyer_ids);
      const states = await sip.world.sql<{ status: string; n: number }>(
        `SELECT status, count(*)::int AS n FROM calls WHERE company_id = $1 GROUP BY 1 ORDER BY 1`,
        [sip.world.company.id],
      );
      expect(states).toEqual([
        { status: 'completed', n: CAP },
        { status: 'no_answer', n: CALLS - CAP },
      ]);
    },
  },
  { side_by_side: true },
);
