import fc from 'fast-check';
import { CAPS, INTERVALS, METRICS } from '../../src/buyers/caps';
import { endStaleCalls } from '../../src/calls/end-stale-calls';
import {
  hasRoom,
  held,
  PAID,
  PAID_AFTER,
  tierFor,
  use,
  used,
  type Cap,
  type ModelAttempt,
  type ModelBuyer,
  type ModelCall,
  type ModelGroup,
  type ModelOwner,
} from '../support/call-model';
import { standingClock } from '../support/clock';
import { repetitions } from '../support/repetitions';
import { createWorld, type World } from '../support/world';

jest.setTimeout(180_000);

// Random companies, and whatever may happen to their calls one after the other, beside a model that says what is allowed.

/** The last Monday of a month, 10:00 in New York. */
const START = '2026-06-29T14:00:00Z';
const ZONES = ['America/New_York', 'America/Los_Angeles', 'Asia/Tokyo'];
const time = standingClock(START);
let world: World;
beforeAll(async () => void (world = await createWorld({ clock: time.read })));
afterAll(() => world.close());

type Fields = Record<string, unknown>;
const ok = async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
  const res = await world.company.api(method, path, body ? { body } : {});
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};

const capNames: Cap[] = [
  ...CAPS.map(({ metric, interval }): Cap => `${metric}_${interval}`),
  'concurrency',
];
const limits = fc.uniqueArray(
  fc.record({ cap: fc.constantFrom(...capNames), limit: fc.integer({ min: 0, max: 4 }) }),
  {
    maxLength: 2,
    selector: ({ cap }) => cap,
  },
);
const owner = { tier: fc.integer({ min: 1, max: 2 }), zone: fc.constantFrom(...ZONES), limits };
const worlds = fc.record({
  groups: fc.array(fc.record({ ...owner, at_once: fc.boolean() }), { maxLength: 2 }),
  buyers: fc.array(
    fc.record({
      ...owner,
      press_one: fc.boolean(),
      hours: fc.option(fc.constantFrom<[number, number]>([8, 20], [0, 12])),
      direct: fc.boolean(),
      in_groups: fc.uniqueArray(fc.nat(1), { maxLength: 2 }),
    }),
    { minLength: 2, maxLength: 5 },
  ),
});
const pick = fc.nat(99);
const commands = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const), pick }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('tell' as const),
      pick,
      event: fc.constantFrom('answered', 'no_answer', 'busy', 'press', 'decline', 'completed'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      minutes: fc.constantFrom(0.5, 2, 70, 600, 1500),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('pause' as const), pick, paused: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      pick,
      cap: fc.constantFrom(...capNames),
      limit: fc.option(fc.integer({ min: 0, max: 3 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('suppress' as const), pick, caller: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const) }) },
);
type Command = typeof commands extends fc.Arbitrary<infer T> ? T : never;
type Setup = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

const isMoney = (cap: Cap) => cap.includes('revenue');
/** Limits on dollars are in calls. */
const amount = (cap: Cap, limit: number) => (isMoney(cap) ? limit * PAID : limit);
const limitName = (cap: Cap) => (cap === 'concurrency' ? 'concurrency_cap_limit' : `${cap}_limit`);
const callerOf = (n: number) => `+1310555010${n}`;
const OPEN = [0, 1, 2, 3, 4, 5, 6];

/** A company as it is set up, and its model. */
async function setUp({ groups, buyers }: Setup) {
  world.company = await world.addCompany();
  const modelOf = (
    { tier, zone, limits: given }: Pick<Setup['buyers'][number], 'tier' | 'zone' | 'limits'>,
    name: ModelOwner['name'],
  ): ModelOwner => ({
    name,
    zone,
    tier,
    paused: false,
    limits: new Map(given.map(({ cap, limit }) => [cap, amount(cap, limit)])),
    uses: [],
  });
  const fieldsOf = ({ limits: all, zone, tier }: ModelOwner) => ({
    time_zone: zone,
    tier,
    ...Object.fromEntries([...all].map(([cap, limit]) => [limitName(cap), limit])),
  });
  const made_groups: ModelGroup[] = [];
  for (const each of groups) {
    const { concurrency_cap_limit, ...fields } = fieldsOf(modelOf(each, 'group 0')) as Fields;
    const body = {
      name: 'Group',
      dial_buyers_type: each.at_once ? 'simultaneously' : 'sequentially',
      concurrency_cap: concurrency_cap_limit,
      ...fields,
    };
    const { id } = (await ok('post', 'buyer_groups', body)).buyer_group;
    made_groups.push({ ...modelOf(each, `group ${id}`), at_once: each.at_once });
  }
  const made: ModelBuyer[] = [];
  const lists: number[] = [];
  for (const [n, { press_one, hours, direct, in_groups, ...each }] of buyers.entries()) {
    // A buyer's hourly limits belong to its hours, which are all day here or what is drawn.
    const own = modelOf(each, 'buyer 0');
    const hourly = Object.fromEntries(
      [...own.limits]
        .filter(([cap]) => cap.endsWith('_hourly'))
        .map(([cap, limit]) => [limitName(cap), limit]),
    );
    const fields = Object.fromEntries(
      Object.entries(fieldsOf(own)).filter(([name]) => !name.endsWith('_hourly_limit')),
    );
    const [from, to] = hours ?? [0, 24];
    const times = [`${String(from).padStart(2, '0')}:00..${String(to - 1).padStart(2, '0')}:59`];
    const list = (await ok('post', 'buyer_suppressions', { name: 'List' })).buyer_suppression.id;
    const pays = { current_conversion_revenue: PAID, current_conversion_duration: PAID_AFTER };
    const body = {
      number: `+1212555010${n}`,
      press_one_to_accept: press_one,
      timeout_seconds: 30,
      buyer_suppression_ids: [list],
      ...pays,
      ...fields,
    };
    const { id } = (
      await ok('post', 'buyers', {
        ...body,
        business_hours_schedule: [{ ...hourly, schedule: OPEN.map((day) => ({ day, times })) }],
      })
    ).buyer;
    const through = in_groups.flatMap((place) => made_groups[place] ?? []);
    lists.push(list);
    made.push({
      ...own,
      name: `buyer ${id}`,
      id,
      press_one,
      hours,
      suppressed: new Set(),
      direct: direct || through.length === 0,
      groups: through,
    });
  }
  for (const group of made_groups)
    await ok('put', `buyer_groups/${group.name.split(' ')[1]}`, {
      buyer_ids: made.filter((buyer) => buyer.groups.includes(group)).map(({ id }) => id),
    });
  const buyer_group_ids = made_groups.map(({ name }) => Number(name.split(' ')[1]));
  const offer_id = (
    await ok('post', 'offers', {
      name: 'Auto',
      buyer_ids: made.filter(({ direct }) => direct).map(({ id }) => id),
      buyer_group_ids,
    })
  ).offer.id;
  return { buyers: made, groups: made_groups, lists, offer_id, calls: [] as ModelCall[] };
}
type State = Awaited<ReturnType<typeof setUp>>;

const at = <T>(all: readonly T[], place: number): T | undefined => all[place % all.length];
const owners = ({ buyers, groups }: State): ModelOwner[] => [...buyers, ...groups];
const pathOf = ({ name }: ModelOwner) =>
  name.replace('group ', 'buyer_groups/').replace('buyer ', 'buyers/');

/** Whom a call was dialed to must be allowed, all of one tier that nobody allowed is below; if nobody, then nobody is. */
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
      const tier = tierFor(buyer, call, { calls: state.calls, now });
      return tier === undefined ? [] : [[buyer.id, tier]];
    }),
  );
  const lowest = Math.min(...tiers.values());
  const dialed = instruction.dial.map(({ buyer_id }) => buyer_id);
  expect({ dialed, allowed: [...tiers.keys()], nobody: dialed.length === 0 }).toEqual({
    dialed,
    allowed: [...tiers.keys()],
    nobody: tiers.size === 0,
  });
  for (const buyer_id of dialed)
    expect([buyer_id, tiers.get(buyer_id)]).toEqual([buyer_id, lowest]);
  for (const { buyer_id, buyer_group_id, attempt: uuid } of instruction.dial) {
    const buyer = state.buyers.find(({ id }) => id === buyer_id)!;
    const group = state.groups.find(({ name }) => name === `group ${buyer_group_id}`) ?? null;
    if (group) expect([group.paused, hasRoom(group, state.calls, now)]).toEqual([false, true]);
    call.attempts.push({ uuid, buyer, group, status: 'ringing', converted: false });
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
  for (const { used: taken, limit } of caps) expect(taken).toBeLessThan(limit);
}

/** What an event makes of a call, as simply as it can be said. */
function happen(
  call: ModelCall,
  attempt: ModelAttempt,
  event: string,
  now: Date,
): 'again' | undefined {
  const open = () => call.attempts.filter(({ status }) => status !== 'over');
  const end = (one: ModelAttempt) => void (one.status = 'over');
  if (
    event === 'completed' ||
    (attempt.status === 'connected' && ['no_answer', 'busy'].includes(event))
  ) {
    for (const one of open()) {
      if (one.connected_at && now.getTime() - one.connected_at.getTime() >= PAID_AFTER * 1000)
        use(one, { buyer_conversion: 1, revenue: PAID, earned_revenue: PAID }, now);
      end(one);
    }
    call.ended = true;
    return undefined;
  }
  const takes =
    (attempt.status === 'ringing' && event === 'answered' && !attempt.buyer.press_one) ||
    (attempt.status === 'answered' && event === 'press');
  if (takes) {
    open()
      .filter((one) => one !== attempt)
      .forEach(end);
    Object.assign(attempt, { status: 'connected', connected_at: now });
    use(attempt, { connection: 1 }, now);
  } else if (attempt.status === 'ringing' && event === 'answered') attempt.status = 'answered';
  else if (
    (attempt.status === 'ringing' && ['no_answer', 'busy'].includes(event)) ||
    (attempt.status === 'answered' && ['decline', 'no_answer', 'busy'].includes(event))
  ) {
    end(attempt);
    return open().length === 0 ? 'again' : undefined;
  }
  return undefined;
}

const KEYS: Record<string, Fields> = {
  press: { event: 'key_press', key: '1' },
  decline: { event: 'key_press', key: '2' },
};

async function run(state: State, command: Command): Promise<void> {
  const now = time.read();
  switch (command.do) {
    case 'call': {
      const caller = callerOf(command.pick % 4);
      const call: ModelCall = { id: 0, caller, attempts: [], ended: false };
      const { call_session } = await ok('post', 'call_sessions', {
        offer_id: state.offer_id,
        caller_number: caller,
      });
      call.id = call_session.id;
      await checkDialed(state, call, call_session.instruction);
      state.calls.push(call);
      return;
    }
    case 'tell': {
      const going = state.calls.filter(({ ended }) => !ended);
      const call = at(going, command.pick);
      const attempt =
        call &&
        at(
          call.attempts.filter(({ status }) => status !== 'over'),
          Math.floor(command.pick / 10),
        );
      if (!attempt) return;
      const news = KEYS[command.event] ?? { event: command.event };
      const { instruction } = (
        await ok('post', `call_sessions/${call.id}/events`, { ...news, attempt: attempt.uuid })
      ).call_session;
      if (happen(call, attempt, command.event, now) === 'again')
        await checkDialed(state, call, instruction);
      return;
    }
    case 'wait':
      return time.set(new Date(now.getTime() + command.minutes * 60_000).toISOString());
    case 'pause': {
      const one = at(owners(state), command.pick)!;
      await ok('put', pathOf(one), { paused: command.paused });
      one.paused = command.paused;
      return;
    }
    case 'limit': {
      const one = at(owners(state), command.pick)!;
      const { cap, limit } = command;
      if (one.name.startsWith('buyer') && cap.endsWith('_hourly')) return;
      const name =
        cap === 'concurrency' && one.name.startsWith('group') ? 'concurrency_cap' : limitName(cap);
      await ok('put', pathOf(one), { [name]: limit === null ? null : amount(cap, limit) });
      if (limit === null) one.limits.delete(cap);
      else one.limits.set(cap, amount(cap, limit));
      return;
    }
    case 'suppress': {
      const place = command.pick % state.buyers.length;
      await ok('post', `buyer_suppressions/${state.lists[place]}/caller_block`, {
        caller_ids: [callerOf(command.caller)],
      });
      state.buyers[place]!.suppressed.add(callerOf(command.caller));
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

const COLUMNS = [
  'id',
  ...METRICS.flatMap((metric) => INTERVALS.map((interval) => `${metric}_${interval}_used`)),
].join(',');
const HELD = `SELECT coalesce('buyer ' || l.buyer_id, 'group ' || l.buyer_group_id) AS name, l.concurrency_cap_used AS used, l.pending_connections AS connections, l.pending_conversions AS conversions,
    l.pending_revenue::float8 AS revenue, count(s.call_id)::int AS slots, coalesce(sum(s.connections), 0)::int AS of_connections, coalesce(sum(s.conversions), 0)::int AS of_conversions,
    coalesce(sum(s.revenue), 0)::float8 AS of_revenue, count(c.ended_at)::int AS dead
  FROM call_limits l LEFT JOIN call_slots s ON s.company_id = l.company_id AND s.call_limit_id = l.id LEFT JOIN calls c ON c.company_id = s.company_id AND c.id = s.call_id WHERE l.company_id = $1 GROUP BY l.company_id, l.id`;

/** Counters, slots and what is pending agree with each other and with the model. */
async function checkCaps(state: State): Promise<void> {
  const rows = await world.sql<Fields & { name: string }>(HELD, [world.company.id]);
  const now = time.read();
  const shown = async (path: string, root: string) =>
    (await ok('get', `${path}?per_page=100&columns=${COLUMNS}`))[root] as (Fields & {
      id: number;
    })[];
  const seen = new Map([
    ...(await shown('buyers', 'buyers')).map((row) => [`buyer ${row.id}`, row] as const),
    ...(state.groups.length > 0 ? await shown('buyer_groups', 'buyer_groups') : []).map(
      (row) => [`group ${row.id}`, row] as const,
    ),
  ]);
  for (const one of owners(state)) {
    const { slots, connections, conversions, revenue } = held(one, state.calls);
    const sums = {
      used: slots,
      slots,
      connections,
      of_connections: connections,
      conversions,
      of_conversions: conversions,
      revenue,
      of_revenue: revenue,
    };
    expect(rows.find(({ name }) => name === one.name)).toMatchObject({
      name: one.name,
      ...sums,
      dead: 0,
    });
    const counters = CAPS.map((cap) => [cap.used, used(one, cap, now)]);
    expect({ name: one.name, ...seen.get(one.name) }).toMatchObject({
      name: one.name,
      ...Object.fromEntries(counters),
    });
  }
}

test('whatever happens to calls, caps hold, slots and counters agree, and nobody is dialed who may not be', async () => {
  const times = Number(process.env.FUZZ_TIMES ?? 1);
  await fc.assert(
    fc.asyncProperty(
      worlds,
      fc.array(commands, { minLength: 20, maxLength: 30 }),
      async (setup, all) => {
        time.set(START);
        const state = await setUp(setup);
        for (const command of all) {
          await run(state, command);
          await checkCaps(state);
        }
        const twice = await world.sql(
          'SELECT call_id, buyer_id FROM call_attempts WHERE company_id = $1 GROUP BY 1, 2 HAVING count(*) > 1',
          [world.company.id],
        );
        expect(twice).toEqual([]);
      },
    ),
    {
      seed: Number(process.env.FUZZ_SEED ?? 4_108),
      numRuns: repetitions(10, 30) * times,
      endOnFailure: false,
    },
  );
});
