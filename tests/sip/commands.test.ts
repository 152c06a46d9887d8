import { createHash } from 'node:crypto';
import type { Fields } from '../support/records';
import { testScenarios, type SipWorld } from './support/sip-world';
import { expectTalk, openTalk } from './support/talk';
import { waitUntil } from './support/waiting';

// The way back: Trunkline makes Kamailio end calls, and hears from it which calls there are.

const readCommands = ({ world }: SipWorld, callId: unknown) =>
  world.sql<{ command: string; result: string | null; reason: string | null }>(
    `SELECT command, result, reason FROM switch_commands
     WHERE company_id = $1 AND call_id = $2 ORDER BY command_id`,
    [world.company.id, callId],
  );

/** Waits until all commands about a call have results, and returns these. */
const waitForResults = (sip: SipWorld, callId: unknown) =>
  waitUntil(
    'the results of commands',
    async () => {
      const commands = await readCommands(sip, callId);
      const isDone = commands.length > 0 && commands.every(({ result }) => result !== null);
      return isDone
        ? commands.map(({ command, result, reason }) =>
            [command, result, reason].filter(Boolean).join(' '),
          )
        : undefined;
    },
    sip.kamailio.log,
  );

/** Seconds until the parties must have heard of it: far more than it takes. */
const PROMPT_SECONDS = 30;

const giveCommand = ({ world, kamailio }: SipWorld, body: Fields) =>
  world.ok('post', `switches/${kamailio.name}/commands`, body);

async function readAttempts({ world }: SipWorld, id: unknown): Promise<string[]> {
  const { call_session } = await world.ok('get', `call_sessions/${String(id)}`);
  const { dial } = (call_session as { instruction: { dial: { attempt: string }[] } }).instruction;
  return dial.map(({ attempt }) => attempt);
}

testScenarios(
  {
    'a call that the API ends is hung up on both sides at once': async (sip) => {
      const talk = await openTalk(sip);
      const { id } = await sip.readCall(talk.id);
      const endedAt = Date.now();
      await sip.world.ok('post', `calls/${id as number}`, { hang_up: true });
      await talk.calls.until('was hung up on');
      await talk.buyer.until('was hung up on');
      expect(Date.now() - endedAt).toBeLessThan(PROMPT_SECONDS * 1000);
      await talk.calls.finish();
      expect(await waitForResults(sip, id)).toEqual(['hang_up done']);
    },

    'a call that the API ends while it rings is refused, and its buyer is canceled': async (
      sip,
    ) => {
      const rings = await sip.startUas('rings');
      const { number, buyer_ids } = await sip.openOffer([{ uas: rings }]);
      const calls = await sip.placeCalls({ number });
      const { id } = await sip.readCall(calls.ids[0]!);
      await rings.until('invited');
      await sip.world.ok('post', `calls/${id as number}`, { hang_up: true });
      await rings.until('canceled');
      await calls.finish();
      expect(calls.log()).toContain('refused 480');
      expect(await waitForResults(sip, id)).toEqual(['hang_up done']);
      expect(await sip.countSlots(buyer_ids)).toBe(0);
    },

    'a leg that is stopped is followed by the next buyer': async (sip) => {
      const rings = await sip.startUas('rings');
      const taker = await sip.startUas('answers');
      const { number, buyer_ids } = await sip.openOffer([
        { uas: rings, fields: { timeout_seconds: 300 } },
        { uas: taker },
      ]);
      const calls = await sip.placeCalls({ number });
      const { id } = await sip.readCall(calls.ids[0]!);
      await rings.until('invited');
      const [attempt] = await readAttempts(sip, id);
      await giveCommand(sip, { call_id: id, command: 'refresh' });
      await giveCommand(sip, { call_id: id, command: 'stop_leg', attempt });
      await calls.until('answered');
      await rings.until('canceled');
      await giveCommand(sip, { call_id: id, command: 'stop_leg', attempt });
      await giveCommand(sip, { call_id: id, command: 'transfer', number: '+12125550100' });
      expect(await waitForResults(sip, id)).toEqual([
        ...['refresh done', 'stop_leg done', 'stop_leg failed it does not ring'],
        'transfer failed a proxy without media cannot do it',
      ]);
      await calls.hangUp();
      const { call, events } = await sip.waitForCall(calls.ids[0]!);
      expect(call).toMatchObject({ status: 'completed', buyer_id: buyer_ids[1] });
      expect(events).toContain('failed 487 no_answer');
    },

    'a call that has ended without a command is hung up at the next sync': async (sip) => {
      const edge = await sip.startKamailio({ SYNC_SECONDS: 1 });
      const talk = await openTalk(sip, edge.port);
      const { id } = await sip.readCall(talk.id);
      await sip.world.ok('post', `call_sessions/sid:${talk.id}/events`, { event: 'completed' });
      await talk.calls.until('was hung up on');
      await talk.buyer.until('was hung up on');
      await talk.calls.finish();
      expect(await readCommands(sip, id)).toEqual([]);
    },

    'calls of a crashed Kamailio free their slots when it is back, and then end as usual': async (
      sip,
    ) => {
      const edge = await sip.startKamailio({});
      const [left, dropped] = await Promise.all([
        openTalk(sip, edge.port),
        openTalk(sip, edge.port),
      ]);
      const buyerIds = [...left.buyer_ids, ...dropped.buyer_ids];
      expect(await sip.countSlots(buyerIds)).toBe(2);
      await edge.restart();
      await sip.waitForFreeSlots(buyerIds);
      expect((await sip.waitForCall(left.id)).events).toContain('lost');
      await left.calls.hangUp();
      await dropped.buyer.hangUp(dropped.id);
      await Promise.all([left.calls.finish(), dropped.calls.finish()]);
      expectTalk((await sip.waitForCall(left.id, 'completed')).call, left, 'caller_hung_up');
      expectTalk((await sip.waitForCall(dropped.id, 'completed')).call, dropped, 'buyer_hung_up');
    },

    'caller and buyer hear each other': async (sip) => {
      const buyer = await sip.startTelephone({ user: 'buyer', tone: { hertz: 880, seconds: 4 } });
      const { number } = await sip.openOffer([{ uas: buyer }]);
      const caller = await sip.startTelephone({
        ...{ user: '+12015550190', tone: { hertz: 440, seconds: 120 } },
        calls: `sip:${number}@127.0.0.1:${sip.kamailio.port}`,
      });
      await Promise.all([buyer.finish(), caller.finish()]);
      expect(caller.measure(880)).toBeGreaterThan(1);
      expect(caller.measure(440)).toBeLessThan(0.5);
      expect(buyer.measure(440)).toBeGreaterThan(1);
      expect(buyer.measure(880)).toBeLessThan(0.5);
      const { call } = await sip.waitForCall(await sip.findCallId('12015550190'));
      expect(call).toMatchObject({ status: 'completed', hangup_cause: 'buyer_hung_up' });
    },

    'a caller is refused with the status that the service says': async (sip) => {
      const talk = await openTalk(sip);
      const cap = { name: 'Ads', concurrency_cap_limit: 0 };
      const source = await sip.world.create('traffic_sources', cap);
      await sip.world.sql(
        'UPDATE numbers SET traffic_source_id = $2 WHERE company_id = $1 AND phone_number = $3',
        [sip.world.company.id, source, talk.number.slice(1)],
      );
      const refused = await sip.placeCalls({ number: talk.number });
      await refused.finish();
      expect(refused.log()).toContain('refused 486');
      await talk.calls.hangUp();
      await talk.calls.finish();
    },

    'a Call-ID of odd characters is a call like others': async (sip) => {
      const buyer = await sip.startUas('answers');
      const { number } = await sip.openOffer([{ uas: buyer }]);
      const calls = await sip.placeCalls({ number, id_prefix: `a"b\\c/d?e%f'{g}` });
      await calls.until('answered');
      await calls.hangUp();
      await calls.finish();
      const sid = createHash('sha256').update(calls.ids[0]!).digest('hex');
      const { call } = await sip.waitForCall(sid);
      expect(call).toMatchObject({ status: 'completed', hangup_cause: 'caller_hung_up' });
    },
  },
  { side_by_side: true, settings: async () => ({ SYNC_SECONDS: 3600 }) },
);
