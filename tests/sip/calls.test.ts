import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { sendRequest } from './support/message';
import { testScenarios, type SipWorld } from './support/sip-world';
import { expectTalk, openTalk } from './support/talk';

// Calls through the Kamailio of examples/kamailio/, side by side in one company.

/** A telephone that never answers rings so long: the shortest `timeout_seconds`. */
const RING_SECONDS = 12;

/** A telephone that receives packets and sends none. */
async function startSilence(sip: SipWorld): Promise<{ address: string }> {
  const socket = createSocket('udp4');
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  sip.world.closeLater(() => socket.close());
  return { address: `sip:buyer@127.0.0.1:${(socket.address() as AddressInfo).port}` };
}

async function openGroup(sip: SipWorld, buyerIds: readonly number[], tier: number) {
  const fields = { dial_buyers_type: 'simultaneously', buyer_ids: buyerIds, tier };
  return sip.world.create('buyer_groups', { name: 'Group', ...fields });
}

testScenarios(
  {
    'the caller hangs up on the buyer who answered': async (sip) => {
      const talk = await openTalk(sip);
      const { buyer, buyer_ids, calls, id } = talk;
      await calls.hangUp();
      await calls.finish();
      const { call, events } = await sip.waitForCall(id);
      expectTalk(call, talk, 'caller_hung_up');
      expect(events.slice(0, 4)).toEqual(['started', 'dialed', 'answered', 'completed']);
      expect(buyer.log(id)).toEqual([expect.any(String), 'answered', 'was hung up on']);
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'a recording is stored after the end': async (sip) => {
      const talk = await openTalk(sip);
      await talk.calls.hangUp();
      const { call } = await sip.waitForCall(talk.id);
      const header = Buffer.from('524946460400000057415645', 'hex');
      const key = await sip.world.credentials(sip.world.company, ['calls:update', 'calls:read']);
      const headers = { Authorization: `Basic ${Buffer.from(key).toString('base64')}` };
      const send = (path: string, init: RequestInit = {}) =>
        fetch(`${sip.service.url}/api/v1/${path}`, { ...init, headers });
      const stored = await send(`call_sessions/sid:${encodeURIComponent(talk.id)}/recording`, {
        method: 'PUT',
        body: header,
      });
      expect(stored.status).toBe(200);
      const audio = await send(`calls/${call.id as number}/recording`);
      expect(Buffer.from(await audio.arrayBuffer())).toEqual(header);
    },

    'requests of strangers with the Call-ID of a call do not end it': async (sip) => {
      const talk = await openTalk(sip);
      const { port } = sip.kamailio;
      await sendRequest('INVITE', talk.id, port);
      await sendRequest('BYE', talk.id, port, { to_tag: 'stranger', proxy: port });
      expect(await sip.readCall(talk.id)).toMatchObject({ status: 'in_progress' });
      expect(await sip.countSlots(talk.buyer_ids)).toBe(1);
      await talk.calls.hangUp();
      await talk.calls.finish();
      expectTalk((await sip.waitForCall(talk.id)).call, talk, 'caller_hung_up');
    },

    'the buyer hangs up on the caller': async (sip) => {
      const talk = await openTalk(sip);
      const { buyer, buyer_ids, calls, id } = talk;
      await buyer.hangUp(id);
      await calls.finish();
      expectTalk((await sip.waitForCall(id)).call, talk, 'buyer_hung_up');
      await buyer.until('hung up');
      expect(calls.log(id).slice(-2)).toEqual(['answered', 'was hung up on']);
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'buyers who are busy, decline, fail or do not answer are followed by the next': async (sip) => {
      const busy = await sip.startUas('486 Busy Here');
      const declines = await sip.startUas('603 Decline');
      const fails = await sip.startUas('503 Service Unavailable');
      const rings = await sip.startUas('rings');
      const taker = await sip.startUas('answers');
      const all = [busy, declines, fails, rings, taker];
      const { number, buyer_ids } = await sip.openOffer(all.map((uas) => ({ uas })));
      const startedAt = Date.now();
      const calls = await sip.placeCalls({ number });
      await calls.until('answered');
      expect(Date.now() - startedAt).toBeGreaterThan((RING_SECONDS - 1) * 1000);
      await calls.hangUp();
      await calls.finish();
      const { call, events } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ status: 'completed', buyer_id: buyer_ids[4] });
      expect(events.slice(0, 11)).toEqual([
        ...['started', 'dialed', 'failed 486 21 busy', 'dialed', 'failed 603 21 declined'],
        ...['dialed', 'failed 503 21', 'dialed', 'no_answer', 'dialed', 'answered'],
      ]);
      await rings.until('canceled');
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'buyers who cannot be reached or must press 1 are followed by the next': async (sip) => {
      const taker = await sip.startUas('answers');
      const { number, buyer_ids } = await sip.openOffer([
        { uas: await startSilence(sip) },
        { uas: { address: 'sip:buyer@nowhere.invalid' } },
        { uas: taker, fields: { press_one_to_accept: true } },
        { uas: taker },
      ]);
      const calls = await sip.placeCalls({ number });
      await calls.until('answered');
      await calls.hangUp();
      const { call, events } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ status: 'completed', buyer_id: buyer_ids[3] });
      expect(events.filter((event) => event.startsWith('failed'))).toEqual([
        'failed 503 no SIP response',
        'failed 503 cannot be dialed',
        'failed cannot be dialed',
      ]);
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'a trunk that fails is followed by the next, with the headers of the buyer': async (sip) => {
      const full = await sip.startUas('503 Service Unavailable');
      const gone = await startSilence(sip);
      const works = await sip.startUas('answers');
      for (const [position, { address }] of [full, gone, works].entries())
        await sip.world.create('trunks', {
          ...{ name: `trunk-${position}`, position, dial_prefix: '00' },
          host: address.slice(address.indexOf('@') + 1),
        });
      const { number, buyer_ids } = await sip.openOffer([
        {
          uas: { address: '+12125550142' },
          fields: { sip_headers: { 'X-Lead': 'a "b"; c' } },
        },
      ]);
      const calls = await sip.placeCalls({ number });
      await calls.until('answered');
      expect(await sip.countSlots(buyer_ids)).toBe(1);
      await calls.hangUp();
      await calls.finish();
      const { call, events } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ status: 'completed', buyer_id: buyer_ids[0] });
      expect(events.slice(0, 5)).toEqual([
        ...['started', 'dialed', 'trunk_failed', 'trunk_failed', 'answered'],
      ]);
      expect(works.log(calls.ids[0])[0]).toMatch(/ a "b"; c$/);
    },

    'of buyers who ring at once, the first to answer is connected': async (sip) => {
      const kinds = ['rings', 'rings', '486 Busy Here', '603 Decline', 'answers'] as const;
      const uases = await Promise.all(kinds.map((kind) => sip.startUas(kind)));
      const { buyer_ids } = await sip.openOffer(uases.map((uas) => ({ uas })));
      const groupId = await openGroup(sip, buyer_ids, 1);
      const { number } = await sip.openOffer([], { buyer_group_ids: [groupId] });
      const calls = await sip.placeCalls({ number });
      await calls.until('answered');
      await Promise.all([uases[0]!, uases[1]!].map((uas) => uas.until('canceled')));
      const [id] = calls.ids;
      expect(await sip.readCall(id!)).toMatchObject({ status: 'in_progress' });
      expect(await sip.countSlots(buyer_ids)).toBe(1);
      await calls.hangUp();
      await calls.finish();
      expect((await sip.waitForCall(id!)).call).toMatchObject({ buyer_id: buyer_ids[4] });
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'when none of those who ring at once answers, the next is dialed': async (sip) => {
      const rings = await Promise.all([sip.startUas('rings'), sip.startUas('rings')]);
      const silent = await startSilence(sip);
      const members = await sip.openOffer([...rings, silent].map((uas) => ({ uas })));
      const groupId = await openGroup(sip, members.buyer_ids, 1);
      const taker = await sip.startUas('answers');
      const next = await sip.openOffer([{ uas: taker, fields: { tier: 2 } }], {
        buyer_group_ids: [groupId],
      });
      const calls = await sip.placeCalls({ number: next.number });
      await calls.until('answered');
      await Promise.all(rings.map((uas) => uas.until('canceled')));
      await calls.hangUp();
      const { call, events } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ status: 'completed', buyer_id: next.buyer_ids[0] });
      expect(events.filter((event) => event === 'no_answer')).toHaveLength(2);
      expect(events).toContain('failed 503 no SIP response');
      expect(await sip.countSlots([...members.buyer_ids, ...next.buyer_ids])).toBe(0);
    },

    'a caller gives up while it rings': async (sip) => {
      const rings = await sip.startUas('rings');
      const { number, buyer_ids } = await sip.openOffer([{ uas: rings }]);
      const calls = await sip.placeCalls({ number, gives_up: true });
      await calls.until('rings');
      expect(await sip.countSlots(buyer_ids)).toBe(1);
      await calls.hangUp();
      await calls.finish();
      await rings.until('canceled');
      const { call } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ connected_at: null, hangup_cause: 'caller_hung_up' });
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'when no buyer is left, the caller is refused, or gets the number of the fallback': async (
      sip,
    ) => {
      const busy = await sip.startUas('486 Busy Here');
      const reception = await sip.startUas('answers');
      const refusing = await sip.openOffer([{ uas: busy }]);
      const falling = await sip.openOffer([{ uas: busy }], {
        fallback_type: 'number',
        fallback_number: reception.address,
      });
      const refused = await sip.placeCalls({ number: refusing.number });
      const passed = await sip.placeCalls({ number: falling.number });
      await refused.finish();
      expect(refused.log()).toContain('refused 480');
      await passed.until('answered');
      // The end would overtake it: Kamailio reports it side by side with other work.
      await sip.waitForCall(passed.ids[0]!, 'fallback_started');
      await passed.hangUp();
      await passed.finish();
      await reception.until('was hung up on');
      const { events } = await sip.waitForCall(passed.ids[0]!, 'fallback_ended');
      expect(events.slice(2)).toEqual([
        ...['failed 486 21 busy', 'fallback', 'fallback_started', 'fallback_ended'],
      ]);
    },

    'a blacklisted caller is declined, and a number of no offer does not exist': async (sip) => {
      const { number } = await sip.openOffer([{ uas: await sip.startUas('answers') }]);
      await sip.world.ok('post', 'contacts/caller_block', { caller_ids: ['+13105550177'] });
      const callers = ['sip:+13105550177@carrier.invalid'];
      const declined = await sip.placeCalls({ number, callers });
      const unknown = await sip.placeCalls({ number: '+12125559999' });
      await declined.finish();
      expect(declined.log()).toContain('refused 603');
      await unknown.finish();
      expect(unknown.log()).toContain('refused 404');
    },

    'a caller of any name is connected, and shown as the service says': async (sip) => {
      const buyer = await sip.startUas('answers');
      const { number } = await sip.openOffer([{ uas: buyer }]);
      const texts = ['alice', '1001', '00442079460958', 'sip:bob@x', '', '+12015550188'];
      const several = '+12015550188,+12015550189';
      const encoded = [...texts, several].map((text) => encodeURIComponent(text));
      const callers = encoded.map((user) => `sip:${user ? `${user}@` : ''}carrier.invalid`);
      const calls = await sip.placeCalls({ number, count: callers.length, callers });
      await calls.until('answered', callers.length);
      await calls.hangUp();
      await calls.finish();
      const shown = await Promise.all(calls.ids.map((id) => sip.readCall(id)));
      expect(shown.map(({ caller_number, token_values }) => [caller_number, token_values])).toEqual(
        [
          [null, { caller_raw: 'alice' }],
          [null, { caller_raw: '1001' }],
          ['+442079460958', {}],
          [null, { caller_raw: 'sip:bob@x' }],
          [null, {}],
          ['+12015550188', {}],
          [null, {}],
        ],
      );
      const anonymous = 'invited by sip:anonymous@anonymous.invalid';
      expect(calls.ids.map((id) => buyer.log(id)[0])).toEqual([
        anonymous,
        anonymous,
        expect.stringContaining('sip:+442079460958@'),
        ...[anonymous, anonymous],
        expect.stringContaining('sip:+12015550188@'),
        anonymous,
      ]);
    },
  },
  { side_by_side: true },
);
