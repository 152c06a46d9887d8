import { setTimeout as sleep } from 'node:timers/promises';
import type { AdapterWorld, StartedSwitch } from './adapter-world';
import { waitUntil } from './waiting';

// The service, the adapter and its switch stop and start: one scenario after the other.

type World = AdapterWorld<StartedSwitch>;

async function openTalk(on: World) {
  const buyer = await on.startUas('answers');
  const { number, buyer_ids } = await on.openOffer([{ uas: buyer }]);
  const calls = await on.placeCalls({ number });
  await calls.until('answered');
  await buyer.until('answered');
  return { buyer, buyer_ids, number, calls, id: calls.ids[0]!, answered_at: Date.now() };
}

const expectDuration = (duration: unknown, since: number, until = Date.now()) => {
  const seconds = (until - since) / 1000;
  expect(Number(duration)).toBeGreaterThanOrEqual(Math.floor(seconds) - 2);
  expect(Number(duration)).toBeLessThanOrEqual(Math.ceil(seconds) + 2);
};

export const outageScenarios: Record<string, (on: World) => Promise<void>> = {
  'while the service is away, calls overflow, and the end of a talk is reported later': async (
    on,
  ) => {
    const { number, calls, id, answered_at, buyer_ids } = await openTalk(on);
    await on.service.stop();
    const more = await on.placeCalls({ number });
    await on.overflow.until('answered');
    await calls.hangUp();
    const endedAt = Date.now();
    await more.hangUp();
    await sleep(3_000);
    await on.service.start();
    const { call } = await on.waitForCall(id);
    expect(call).toMatchObject({ status: 'completed', hangup_cause: 'caller_hung_up' });
    expectDuration(call.answered_duration, answered_at, endedAt);
    expect(await on.countSlots(buyer_ids)).toBe(0);
    const overflowed = (await on.waitForCall(more.ids[0]!)).call;
    expect(overflowed).toMatchObject({ buyer_id: null, connected_at: null });
  },

  'an adapter that is killed takes up its calls again': async (on) => {
    const { buyer, buyer_ids, calls, id, answered_at } = await openTalk(on);
    await on.adapter.kill();
    await sleep(2_000);
    await on.adapter.start();
    await sleep(1_000);
    expect(await on.readCall(id)).toMatchObject({ status: 'in_progress' });
    await buyer.hangUp(buyer.callIds()[0]!);
    await calls.finish();
    const { call } = await on.waitForCall(id);
    expect(call).toMatchObject({ status: 'completed', hangup_cause: 'buyer_hung_up' });
    expectDuration(call.answered_duration, answered_at);
    expect(await on.countSlots(buyer_ids)).toBe(0);
  },

  'without the adapter, calls overflow': async (on) => {
    const { number } = await on.openOffer([{ uas: await on.startUas('answers') }]);
    const before = on.overflow.callIds().length;
    await on.adapter.kill();
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    expect(on.overflow.callIds()).toHaveLength(before + 1);
    await calls.hangUp();
    await on.adapter.start();
  },

  'events that the service has not received outlive the adapter': async (on) => {
    const { calls, id, answered_at } = await openTalk(on);
    await on.service.stop();
    await calls.hangUp();
    const endedAt = Date.now();
    await sleep(1_500);
    await on.adapter.kill();
    await sleep(3_000);
    await on.service.start();
    await on.adapter.start();
    // The first sync may have ended the call before.
    const call = await waitUntil('the end of the talk', async () => {
      const ended = (await on.waitForCall(id)).call;
      return ended.hangup_cause === 'caller_hung_up' ? ended : undefined;
    });
    expectDuration(call.answered_duration, answered_at, endedAt);
  },

  'after a crash of the switch its calls end, and new ones are carried': async (on) => {
    const { id, buyer_ids } = await openTalk(on);
    await on.started.restart();
    await on.waitForCall(id);
    expect(await on.countSlots(buyer_ids)).toBe(0);
    const next = await openTalk(on);
    await next.calls.hangUp();
    await on.waitForCall(next.id);
  },
};
