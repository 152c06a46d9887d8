import fc from 'fast-check';
import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import {
  amount,
  toCallerNumber,
  commands,
  companies,
  limitName,
  type Command,
} from '../../support/call-commands';
import { cents } from '../../../src/domain/money/engine/payout';
import {
  applyEvent,
  BID,
  giveBack,
  hasRoom,
  PAID_AFTER,
  findTier,
  type ModelCall,
  type ModelOwner,
} from '../../support/call-model';
import { checkCaps, checkGroups, checkUnbilled, owners } from '../../support/call-model-checks';
import { FAR, bindOk, setUp, type State } from '../../support/call-model-company';
import { ANSWERS, startBidders } from '../../support/bidders';
import { standingClock } from '../../support/clock';
import { repetitions } from '../../support/repetitions';
import { createWorld, type World } from '../../support/world';

// Random companies and random commands for their calls, compared with a model of what is allowed.

/** The last Monday of a month, 10:00 in New York. */
const START = '2026-06-29T14:00:00Z';
const time = standingClock(START);
let world: World;
let ok: ReturnType<typeof bindOk>;
let bidders: Awaited<ReturnType<typeof startBidders>>;
beforeAll(async () => {
  const environment = { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' };
  world = await createWorld({ clock: time.read, environment });
  ok = bindOk(world);
  bidders = await startBidders();
  bidders.answer({ bid: ANSWERS.bid(BID, { duration: PAID_AFTER }) });
});
afterAll(async () => {
  await bidders.close();
  await world.close();
});

type Fields = Record<string, unknown>;

const at = <T>(all: readonly T[], index: number): T | undefined => all[index % all.length];
const toPath = ({ name }: ModelOwner) =>
  name
    .replace('group ', 'buyer_groups/')
    .replace('buyer ', 'buyers/')
    .replace('source ', 'traffic_sources/');

/**
 * The buyers that were dialed must be allowed, and all of the lowest tier with an allowed buyer; if
 * none was dialed, none is allowed.
 */
async function checkDialed(
  state: State,
  call: ModelCall,
  instruction: {
    action: string;
    dial: { buyer_id: number; buyer_group_id: number | null; attempt: string }[];
  },
) {
  const now = time.read();
  const tiers = new Map(
    state.buyers.flatMap((buyer) => {
      const tier = findTier(buyer, call, { calls: state.calls, now });
      return tier === undefined ? [] : [[buyer.id, tier]];
    }),
  );
  const lowest = Math.min(...tiers.values());
  const dialed = instruction.dial.map(({ buyer_id }) => buyer_id);
  expect({ dialed, allowed: [...tiers.keys()], none: dialed.length === 0 }).toEqual({
    dialed,
    allowed: [...tiers.keys()],
    none: tiers.size === 0,
  });
  for (const buyerId of dialed) expect([buyerId, tiers.get(buyerId)]).toEqual([buyerId, lowest]);
  for (const { buyer_id, buyer_group_id, attempt: uuid } of instruction.dial) {
    const buyer = state.buyers.find(({ id }) => id === buyer_id)!;
    const group = state.groups.find(({ name }) => name === `group ${buyer_group_id}`) ?? null;
    if (group) expect([group.paused, hasRoom(group, state.calls, { now })]).toEqual([false, true]);
    const { source } = state;
    const fresh = { status: 'ringing' as const, converted: false, returnable: [] };
    call.attempts.push({ uuid, buyer, group, source, ...fresh });
    buyer.uses.push({ at: now, metric: 'attempt', amount: 1 });
  }
  // A group counts a round once, however many of it ring.
  for (const group of new Set(
    call.attempts.slice(call.attempts.length - dialed.length).map((attempt) => attempt.group),
  ))
    group?.uses.push({ at: now, metric: 'attempt', amount: 1 });
  call.ended = dialed.length === 0;
  await checkDecision(state, call, dialed);
}

const isKeptBySource = ({ source, calls }: State, now: Date): boolean =>
  source.paused || !hasRoom(source, calls, { now });

/** A call that its source keeps from all buyers, and of which its caps count nothing. */
async function checkKept(state: State, call: ModelCall, instruction: { dial: unknown[] }) {
  expect(instruction.dial).toEqual([]);
  const { decisions } = await ok('get', `calls/${call.id}/decision`);
  expect(decisions[0].reason).toMatch(/^traffic_source_(paused|cap_reached|concurrency_full)$/);
  call.ended = true;
  state.calls.push(call);
}

async function checkDecision(state: State, call: ModelCall, dialed: number[]) {
  const { decisions } = await ok('get', `calls/${call.id}/decision`);
  const { candidates, buyer_ids, caps } = decisions.at(-1);
  const ids = (all: { buyer_id: number }[]) =>
    all.map(({ buyer_id }) => buyer_id).toSorted((a, b) => a - b);
  expect(ids(candidates)).toEqual(state.buyers.map(({ id }) => id).toSorted((a, b) => a - b));
  for (const { chosen, reason, rank, message } of candidates)
    expect([reason === null, reason === null, chosen && reason !== null]).toEqual([
      rank !== null,
      message === null,
      false,
    ]);
  expect([
    ids(candidates.filter(({ chosen }: { chosen: boolean }) => chosen)),
    buyer_ids.toSorted(),
  ]).toEqual([dialed.toSorted((a, b) => a - b), dialed.toSorted()]);
  for (const { used: usage, limit } of caps) expect(usage).toBeLessThan(limit);
}

const KEYS: Record<string, Fields> = {
  press: { event: 'key_press', key: '1' },
  decline: { event: 'key_press', key: '2' },
};

async function run(state: State, command: Command): Promise<void> {
  const now = time.read();
  switch (command.do) {
    case 'call': {
      const caller = toCallerNumber(command.pick % 4);
      const call: ModelCall = { id: 0, caller, attempts: [], ended: false };
      const { call_session } = await ok('post', 'call_sessions', {
        offer_id: state.offer_id,
        caller_number: caller,
        traffic_source_id: Number(state.source.name.split(' ')[1]),
      });
      call.id = call_session.id;
      if (isKeptBySource(state, now)) return checkKept(state, call, call_session.instruction);
      state.source.uses.push({ at: now, metric: 'attempt', amount: 1 });
      await checkDialed(state, call, call_session.instruction);
      state.calls.push(call);
      return;
    }
    case 'report': {
      const going = state.calls.filter(({ ended }) => !ended);
      const call = at(going, command.pick);
      const attempt =
        call &&
        at(
          call.attempts.filter(({ status }) => status !== 'over'),
          Math.floor(command.pick / 10),
        );
      if (!attempt) return;
      const event = KEYS[command.event] ?? { event: command.event };
      const body = { ...event, attempt: attempt.uuid };
      const path = `call_sessions/${call.id}/events`;
      const res = await world.company.api('post', path, { body });
      // A key that is not awaited from the buyer is refused, but not one that is reported again.
      const isAwaited = !('key' in body) || attempt.status === 'answered';
      const isKnown = isAwaited || attempt.pressed === command.event;
      expect([event, res.status]).toEqual([event, isKnown ? 200 : 409]);
      if (!isAwaited) return;
      if ('key' in body) attempt.pressed = command.event;
      const { instruction } = res.body.call_session;
      if (applyEvent(call, attempt, command.event, now) === 'next_round')
        await checkDialed(state, call, instruction);
      return;
    }
    case 'wait':
      return time.set(new Date(now.getTime() + command.minutes * 60_000).toISOString());
    case 'pause': {
      const owner = at(owners(state), command.pick)!;
      await ok('put', toPath(owner), { paused: command.paused });
      owner.paused = command.paused;
      return;
    }
    case 'limit': {
      const owner = at(owners(state), command.pick)!;
      const { cap, limit } = command;
      if (owner.name.startsWith('buyer') && cap.endsWith('_hourly')) return;
      const name =
        cap === 'concurrency' && owner.name.startsWith('group')
          ? 'concurrency_cap'
          : limitName(cap);
      const none = owner === state.source ? FAR : null;
      await ok('put', toPath(owner), { [name]: limit === null ? none : amount(cap, limit) });
      if (limit === null) owner.limits.delete(cap);
      else owner.limits.set(cap, amount(cap, limit));
      return;
    }
    case 'suppress': {
      const index = command.pick % state.buyers.length;
      await ok('post', `buyer_suppressions/${state.lists[index]}/caller_block`, {
        caller_ids: [toCallerNumber(command.caller)],
      });
      state.buyers[index]!.suppressed.add(toCallerNumber(command.caller));
      return;
    }
    case 'return': {
      const paid = state.calls.filter(({ attempts }) =>
        attempts.some(({ returnable }) => returnable.length > 0),
      );
      const call = at(paid, command.pick);
      if (!call) return;
      await ok('post', `calls/${call.id}`, { buyer_converted: false, adjustment_reason: 'bad' });
      call.attempts.forEach(giveBack);
      return;
    }
    case 'enter': {
      const buyer = at(
        state.buyers.filter(({ balance }) => balance !== null),
        command.pick,
      );
      if (!buyer) return;
      const { amount: dollars } = command;
      await ok('post', 'account_entries', {
        buyer_id: buyer.id,
        kind: 'adjustment',
        amount: dollars,
      });
      buyer.balance = cents(buyer.balance! + dollars);
      return;
    }
    case 'die':
      time.set(new Date(now.getTime() + 16 * 60_000).toISOString());
      await endStaleCalls(world.deps);
      for (const call of state.calls) {
        for (const attempt of call.attempts) attempt.status = 'over';
        call.ended = true;
      }
  }
}

test('caps hold, slots and counters agree, and only allowed buyers are dialed', async () => {
  const times = Number(process.env.FUZZ_TIMES ?? 1);
  await fc.assert(
    fc.asyncProperty(
      companies,
      fc.array(commands, { minLength: 20, maxLength: 30 }),
      async (setup, all) => {
        time.set(START);
        const state = await setUp(world, setup, bidders.buildUrl('bid'));
        for (const command of all) {
          await run(state, command);
          await checkCaps(world, state, time.read());
          await checkGroups(world);
          await checkUnbilled(world);
        }
        const repeated = await world.sql(
          `SELECT call_id, buyer_id FROM call_attempts WHERE company_id = $1
          GROUP BY 1, 2 HAVING count(*) > 1`,
          [world.company.id],
        );
        expect(repeated).toEqual([]);
      },
    ),
    {
      seed: Number(process.env.FUZZ_SEED ?? 4_108),
      numRuns: repetitions(5, 30) * times,
      endOnFailure: false,
    },
  );
});
