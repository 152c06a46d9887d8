import { setTimeout as sleep } from 'node:timers/promises';
import type { Fields } from '../../support/records';
import type { AdapterWorld, StartedSwitch } from './adapter-world';
import type { UasKind } from './sides';
import { pressKey } from './media';
import { waitUntil } from './waiting';

// Calls by any adapter and its switch. They can run side by side.

type World = AdapterWorld<StartedSwitch>;
type Scenarios = Record<string, (on: World) => Promise<void>>;

const PRESS_ONE = { press_one_to_accept: true };

export async function openTalk(on: World, fields: Fields = {}) {
  const buyer = await on.startUas('answers');
  const { number, buyer_ids } = await on.openOffer([{ uas: buyer, fields }]);
  const calls = await on.placeCalls({ number });
  await calls.until('answered');
  await buyer.until('answered');
  await sleep(2_000);
  return { buyer, buyer_ids, calls, id: calls.ids[0]! };
}

/** An offer whose buyers are to ring at once. */
export async function openGroup(on: World, kinds: readonly UasKind[]) {
  const uases = await Promise.all(kinds.map((kind) => on.startUas(kind)));
  const { buyer_ids } = await on.openOffer(uases.map((uas) => ({ uas })));
  const fields = { dial_buyers_type: 'simultaneously', buyer_ids, tier: 1 };
  const groupId = await on.world.create('buyer_groups', { name: 'Group', ...fields });
  const { number } = await on.openOffer([], { buyer_group_ids: [groupId] });
  return { uases, buyer_ids, number };
}

export const callScenarios: Scenarios = {
  'the caller hangs up on the buyer who answered': async (on) => {
    const { buyer, buyer_ids, calls, id } = await openTalk(on);
    await calls.hangUp();
    await calls.finish();
    const { call, events } = await on.waitForCall(id);
    expect(call).toMatchObject({ status: 'completed', hangup_cause: 'caller_hung_up' });
    expect([2, 3, 4]).toContain(call.answered_duration);
    expect(events.slice(0, 2)).toEqual(['started', 'dialed']);
    await buyer.until('was hung up on');
    expect(await on.countSlots(buyer_ids)).toBe(0);
  },

  'the buyer hangs up on the caller': async (on) => {
    const { buyer, buyer_ids, calls, id } = await openTalk(on);
    await buyer.hangUp(buyer.callIds()[0]!);
    await calls.finish();
    expect((await on.waitForCall(id)).call).toMatchObject({ hangup_cause: 'buyer_hung_up' });
    expect(calls.log(id).slice(-2)).toEqual(['answered', 'was hung up on']);
    expect(await on.countSlots(buyer_ids)).toBe(0);
  },

  'buyers who are busy, decline, fail or do not answer are followed by the next': async (on) => {
    const kinds = ['486 Busy Here', '603 Decline', '503 Service Unavailable', 'rings'] as const;
    const uases = await Promise.all(kinds.map((kind) => on.startUas(kind)));
    const taker = await on.startUas('answers');
    const { number, buyer_ids } = await on.openOffer([...uases, taker].map((uas) => ({ uas })));
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    await uases[3]!.until('canceled');
    await calls.hangUp();
    const { call, events } = await on.waitForCall(calls.ids[0]!);
    expect(call).toMatchObject({ status: 'completed', buyer_id: buyer_ids[4] });
    expect(events.filter((event) => event !== 'ringing').slice(0, 11)).toEqual([
      ...['started', 'dialed', 'failed', 'dialed', 'failed', 'dialed', 'failed'],
      ...['dialed', 'no_answer', 'dialed', 'answered'],
    ]);
    expect(await on.countSlots(buyer_ids)).toBe(0);
  },

  'a buyer who presses 2 declines, and the next one who presses 1 is connected': async (on) => {
    const declines = await on.startUas('answers', pressKey(2, 4_000));
    const accepts = await on.startUas('answers', pressKey(1, 1_500));
    const offered = [declines, accepts].map((uas) => ({ uas, fields: PRESS_ONE }));
    const { number, buyer_ids } = await on.openOffer(offered);
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    await declines.until('was hung up on');
    await calls.hangUp();
    const { call, events } = await on.waitForCall(calls.ids[0]!);
    expect(call).toMatchObject({ buyer_id: buyer_ids[1], hangup_cause: 'caller_hung_up' });
    expect(events.filter((event) => event === 'key_press')).toHaveLength(2);
  },

  'a buyer who presses no key is followed by the next': async (on) => {
    const silent = await on.startUas('answers');
    const taker = await on.startUas('answers');
    const { number, buyer_ids } = await on.openOffer([
      { uas: silent, fields: PRESS_ONE },
      { uas: taker },
    ]);
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    await silent.until('was hung up on');
    await calls.hangUp();
    expect((await on.waitForCall(calls.ids[0]!)).call).toMatchObject({ buyer_id: buyer_ids[1] });
  },

  'a caller gives up while it rings': async (on) => {
    const rings = await on.startUas('rings');
    const { number, buyer_ids } = await on.openOffer([{ uas: rings }]);
    const calls = await on.placeCalls({ number, gives_up: true });
    await calls.until('rings');
    await waitUntil('the buyer rings', () => rings.callIds()[0]);
    await calls.hangUp();
    await calls.finish();
    await rings.until('canceled');
    const { call } = await on.waitForCall(calls.ids[0]!);
    expect(call).toMatchObject({ connected_at: null, hangup_cause: 'caller_hung_up' });
    expect(await on.countSlots(buyer_ids)).toBe(0);
  },

  'a call that is ended through the API ends within two seconds': async (on) => {
    const { buyer, calls, id } = await openTalk(on);
    const { id: callId } = await on.readCall(id);
    const startedAt = Date.now();
    await on.world.ok('post', `calls/${callId as number}`, { hang_up: true });
    await Promise.all([calls.until('was hung up on'), buyer.until('was hung up on')]);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  },

  'a blocked caller gets 603, and a number of no offer 404': async (on) => {
    const { number } = await on.openOffer([{ uas: await on.startUas('answers') }]);
    await on.world.ok('post', 'contacts/caller_block', { caller_ids: ['+13105550177'] });
    const callers = ['sip:+13105550177@carrier.invalid'];
    const declined = await on.placeCalls({ number, callers });
    const unknown = await on.placeCalls({ number: '+12125559999' });
    await declined.finish();
    expect(declined.log()).toContain('refused 603');
    await unknown.finish();
    expect(unknown.log()).toContain('refused 404');
  },

  'a buyer sees the caller, or nobody where the caller is withheld': async (on) => {
    const buyer = await on.startUas('answers');
    const { number } = await on.openOffer([{ uas: buyer }]);
    const callers = ['sip:+12015550188@carrier.invalid', 'sip:anonymous@anonymous.invalid'];
    const calls = await on.placeCalls({ number, count: 2, callers });
    await calls.until('answered', 2);
    await calls.hangUp();
    const shown = buyer.callIds().map((id) => buyer.log(id)[0]);
    expect(shown.toSorted()).toEqual([
      expect.stringContaining('sip:+12015550188@'),
      expect.stringContaining('anonymous'),
    ]);
  },

  'a fallback number gets the caller': async (on) => {
    const [busy, reception] = [await on.startUas('486 Busy Here'), await on.startUas('answers')];
    const { number } = await on.openOffer([{ uas: busy }], {
      fallback_type: 'number',
      fallback_number: reception.address,
    });
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    await reception.until('answered');
    await calls.hangUp();
    await reception.until('was hung up on');
    const { events } = await on.waitForCall(calls.ids[0]!);
    expect(events).toEqual(expect.arrayContaining(['failed', 'fallback_started']));
  },

  'a caller hears the message of the fallback, and the call ends': async (on) => {
    const busy = await on.startUas('486 Busy Here');
    const { number } = await on.openOffer([{ uas: busy }], {
      fallback_type: 'message',
      fallback_message: 'We are closed.',
    });
    const calls = await on.placeCalls({ number });
    await calls.until('answered');
    await calls.finish();
    expect(calls.log().slice(-2)).toEqual(['answered', 'was hung up on']);
    const { events } = await on.waitForCall(calls.ids[0]!, 'fallback_ended');
    expect(events).toContain('fallback_started');
  },
};
