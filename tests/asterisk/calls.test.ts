import { testScenarios } from './support/asterisk-world';
import { callScenarios, openGroup, openTalk } from '../sip/support/adapter-calls';

// Calls through Asterisk with the files of examples/asterisk/ and the adapter, side by side.

testScenarios(
  {
    ...callScenarios,

    'of buyers who ring at once, the first to answer is connected': async (on) => {
      const kinds = ['rings', 'rings', '486 Busy Here', 'answers'] as const;
      const { uases, buyer_ids, number } = await openGroup(on, kinds);
      const calls = await on.placeCalls({ number });
      await calls.until('answered');
      await Promise.all([uases[0]!, uases[1]!].map((uas) => uas.until('canceled')));
      expect(await on.countSlots(buyer_ids)).toBe(1);
      await calls.hangUp();
      expect((await on.waitForCall(calls.ids[0]!)).call).toMatchObject({ buyer_id: buyer_ids[3] });
      expect(await on.countSlots(buyer_ids)).toBe(0);
    },

    'a caller is sent to another number, and the buyer is let go': async (on) => {
      const { buyer, calls, id } = await openTalk(on);
      const other = await on.startUas('answers');
      const { id: callId } = await on.readCall(id);
      const command = { call_id: callId, command: 'transfer', number: other.address };
      await on.world.ok('post', 'switches/asterisk-1/commands', command);
      await other.until('answered');
      await buyer.until('was hung up on');
      await calls.hangUp();
      await other.until('was hung up on');
      expect((await on.waitForCall(id)).events).toContain('transferred');
    },
  },
  { side_by_side: true },
);
