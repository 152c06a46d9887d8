import { setTimeout as sleep } from 'node:timers/promises';
import { callScenarios, openGroup, openTalk } from '../sip/support/adapter-calls';
import { SPEECH } from '../sip/support/media';
import { waitUntil } from '../sip/support/waiting';
import { testScenarios } from './support/freeswitch-world';

// Calls through FreeSWITCH with the files of examples/freeswitch/ and the adapter, side by side.

testScenarios(
  {
    ...callScenarios,

    'buyers of a group that rings at once are dialed one after the other': async (on) => {
      const { buyer_ids, number } = await openGroup(on, ['486 Busy Here', 'rings', 'answers']);
      const calls = await on.placeCalls({ number });
      await calls.until('answered');
      expect(await on.countSlots(buyer_ids)).toBe(1);
      await calls.hangUp();
      const { call } = await on.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ buyer_id: buyer_ids[2], hangup_cause: 'caller_hung_up' });
      expect(await on.countSlots(buyer_ids)).toBe(0);
    },

    'a buyer is dialed again through the next trunk where one is not there': async (on) => {
      for (const [position, name] of ['no-such-gateway', 'trunk'].entries())
        await on.world.create('trunks', { name, host: name, position });
      const { number, buyer_ids } = await on.openOffer([
        { uas: { address: '+13105550142' }, fields: { sip_headers: { 'X-Lead': '7, ${x} <&"$' } } },
      ]);
      const calls = await on.placeCalls({ number });
      await calls.until('answered');
      await calls.hangUp();
      const { call, events } = await on.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ buyer_id: buyer_ids[0], status: 'completed' });
      expect(events).toContain('trunk_failed');
      expect(on.trunk.log().join('\n')).toContain('7, {x} <&"$');
    },

    'keys are played to the buyer once, and a message is played before': async (on) => {
      const buyer = await on.startUas('answers', SPEECH);
      const offered = [{ uas: buyer, fields: { dtmf_tones: 'w9' } }];
      const { number } = await on.openOffer(offered, { greeting_message: 'Hello.' });
      const calls = await on.placeCalls({ number });
      await calls.until('answered');
      await buyer.until('answered');
      const { id } = await on.readCall(calls.ids[0]!);
      await on.world.ok('post', 'calls/send_key_press', { id, digits: '5' });
      const count = (key: number) => on.started.log().split(`start packet for [${key}]`).length - 1;
      await waitUntil('a key', () => count(5) > 0 || undefined);
      await on.world.ok('post', 'switches/freeswitch-1/commands', {
        call_id: id,
        command: 'refresh',
      });
      await sleep(1_500);
      expect([count(9), count(5)]).toEqual([1, 1]);
      await calls.hangUp();
    },

    'a recording begins when it is wanted': async (on) => {
      const { calls, id } = await openTalk(on);
      const { id: callId } = await on.readCall(id);
      const command = { call_id: callId, command: 'start_recording' };
      await on.world.ok('post', 'switches/freeswitch-1/commands', command);
      await sleep(2_000);
      await calls.hangUp();
      expect(await on.waitForField(id, 'recording_url')).toContain('/recording');
    },
  },
  { side_by_side: true },
);
