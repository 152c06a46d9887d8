import { setTimeout as sleep } from 'node:timers/promises';
import { testScenarios } from './support/sip-world';
import type { Uas } from './support/sides';
import { expectTalk, openTalk } from './support/talk';
import { waitUntil } from './support/waiting';

// The service or Kamailio is away, during calls and while they begin: one outage after the other.

let overflow: Uas;

testScenarios(
  {
    'while the service is down, calls go on and overflow, and what it misses is reported later':
      async (sip) => {
        const talk = await openTalk(sip);
        await sip.service.stop();
        await talk.buyer.hangUp(talk.id);
        await talk.calls.finish();
        const answers = overflow.log().length;
        const overflowing = await sip.placeCalls({ number: talk.number, count: 3 });
        await overflowing.until('answered', 3);
        expect(overflow.log().length).toBeGreaterThan(answers);
        await overflowing.hangUp();
        await overflowing.finish();
        await sip.service.start();
        expectTalk((await sip.waitForCall(talk.id)).call, talk, 'buyer_hung_up');
        expect(await sip.countSlots(talk.buyer_ids)).toBe(0);
        for (const id of overflowing.ids) {
          const { call, events } = await sip.waitForCall(id, 'imported');
          expect(call).toMatchObject({ buyer_id: null, hangup_cause: 'overflow' });
          expect(events.filter((event) => event === 'imported')).toHaveLength(1);
        }
        const next = await openTalk(sip);
        await next.calls.hangUp();
        expectTalk((await sip.waitForCall(next.id)).call, next, 'caller_hung_up');
      },

    'calls overflow while the service does not answer, and only then': async (sip) => {
      const kamailio = await sip.startKamailio({ API_TIMEOUT: 2 });
      await waitUntil(
        'the service knows Kamailio',
        () => kamailio.log().includes('has started') || undefined,
        kamailio.log,
      );
      sip.service.pause();
      const number = '+12125550199';
      const calls = await sip.placeCalls({ proxy: kamailio.port, number, count: 3 });
      await calls.until('answered', 3);
      await calls.hangUp();
      await calls.finish();
      sip.service.resume();
      await waitUntil(
        'Kamailio hears from the service',
        () => kamailio.log().includes('Trunkline is back') || undefined,
        kamailio.log,
      );
    },

    'while the service takes its time, callers hear so, and may give up': async (sip) => {
      const buyer = await sip.startUas('answers');
      const { number, buyer_ids } = await sip.openOffer([{ uas: buyer }]);
      sip.service.pause();
      const calls = await sip.placeCalls({ number });
      const canceled = await sip.placeCalls({ number, gives_up: true });
      await Promise.all([calls.until('trying'), canceled.until('trying')]);
      await canceled.hangUp();
      await canceled.finish();
      // A caller who heard nothing would send its INVITE again by then.
      await sleep(2_000);
      sip.service.resume();
      await calls.until('answered');
      await calls.hangUp();
      await calls.finish();
      const { events } = await sip.waitForCall(calls.ids[0]!);
      expect(events.filter((event) => event === 'dialed')).toHaveLength(1);
      expect((await sip.waitForCall(canceled.ids[0]!)).call).toMatchObject({
        connected_at: null,
        hangup_cause: 'caller_hung_up',
      });
      expect(buyer.log()).toEqual([expect.any(String), 'answered', 'was hung up on']);
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'a call that lasts too long is hung up on both sides': async (sip) => {
      const buyer = await sip.startUas('answers');
      const { number } = await sip.openOffer([{ uas: buyer }]);
      const { port } = await sip.startKamailio({ MAX_SECONDS: 2 });
      const calls = await sip.placeCalls({ number, proxy: port });
      await calls.until('was hung up on');
      await buyer.until('was hung up on');
      await calls.finish();
      const { call } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ status: 'completed', hangup_cause: 'time_limit' });
      expect(call.answered_duration).toBeGreaterThanOrEqual(1);
    },
  },
  {
    side_by_side: false,
    settings: async ({ startUas }) => {
      overflow = await startUas('answers');
      return { OVERFLOW_URI: overflow.address };
    },
  },
);
