import { outageScenarios } from '../sip/support/adapter-outages';
import { testScenarios } from './support/freeswitch-world';

testScenarios(
  {
    ...outageScenarios,

    'a buyer who has to press 1 is not connected while the adapter is away': async (on) => {
      const silent = await on.startUas('answers');
      const fields = { press_one_to_accept: true };
      const { number } = await on.openOffer([{ uas: silent, fields }]);
      const before = on.overflow.callIds().length;
      const calls = await on.placeCalls({ number });
      await silent.until('answered');
      await on.adapter.kill();
      await silent.until('was hung up on');
      await calls.until('answered');
      expect(on.overflow.callIds()).toHaveLength(before + 1);
      await calls.hangUp();
      await on.adapter.start();
      await on.waitForCall(calls.ids[0]!);
    },

    'no buyer is billed for a caller who went to the overflow while the adapter was away': async (
      on,
    ) => {
      const rings = await on.startUas('rings');
      const { number, buyer_ids } = await on.openOffer([{ uas: rings }]);
      const calls = await on.placeCalls({ number });
      await rings.until('invited');
      await on.adapter.kill();
      await calls.until('answered');
      await on.adapter.start();
      await calls.hangUp();
      const { call } = await on.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ connected_at: null, hangup_cause: 'overflow' });
      expect(await on.countSlots(buyer_ids)).toBe(0);
    },

    'a leg that rings when the adapter restarts is followed by the next buyer': async (on) => {
      const buyer = await on.startUas('rings');
      const taker = await on.startUas('answers');
      const { number, buyer_ids } = await on.openOffer([{ uas: buyer }, { uas: taker }]);
      const calls = await on.placeCalls({ number });
      await buyer.until('invited');
      await on.adapter.kill();
      await on.adapter.start();
      await calls.until('answered');
      await calls.hangUp();
      const { call } = await on.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ buyer_id: buyer_ids[1], hangup_cause: 'caller_hung_up' });
    },
  },
  { side_by_side: false },
);
