import { sqlOn } from '../../../src/db/sql';
import { routingCandidates } from '../../../src/routing/candidates';
import { recordUsage } from '../../../src/buyers/reserve-caps';
import { candidatesOf, loadCandidates } from '../../../src/routing/load-candidates';
import type { Candidate, CandidateGroup, UsedUpCap } from '../../../src/routing/engine/candidate';
import { eligibility } from '../../../src/routing/engine/eligibility';
import type { Reason } from '../../../src/routing/engine/reasons';
import { openMinutes, type ScheduleEntry } from '../../../src/time/opening-hours';
import { ownTokens } from '../../../src/tokens/substitute';
import { buyer, group, NEW_YORK } from '../../support/candidates';
import { standingClock } from '../../support/clock';
import { createWorld, type Company, type World } from '../../support/world';

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';

const through = (...groups: CandidateGroup[]): Partial<Candidate> => ({ direct: false, groups });
const hours = (...schedules: ScheduleEntry[][]): Partial<Candidate> => ({
  business_hours: schedules.map(openMinutes),
});
const filters = (...record_token_filter_list: string[]): Partial<Candidate> => ({
  record_token_filter_list,
});
const cap = (
  name: UsedUpCap['cap'],
  used: number,
  limit: number,
  resets_at?: string,
): { used_up: UsedUpCap } => ({
  used_up: { cap: name, used, limit, resets_at: resets_at ? new Date(resets_at) : null },
});
const CAPPED = cap('attempt_daily', 50, 50, '2026-06-02T04:00:00Z');
const FULL = cap('concurrency', 3, 3);
const NEVER = hours([{ day: 1, times: [] }]);
const LISTED = { suppressed_by: [4, 9].map((id) => ({ id, name: `List ${id}` })) };

const tokens = ownTokens({ state: 'TX', age: '40' });
const asked = (candidate: Candidate, now = MONDAY) =>
  eligibility(candidate, { now: new Date(now), tokens });
const reason = (changes: Partial<Candidate>, now = MONDAY) => asked(buyer(changes), now).reason;
const message = (changes: Partial<Candidate>, now = MONDAY) => asked(buyer(changes), now).message;

describe('whether a buyer could take a call', () => {
  test('one with nothing against it could', () =>
    expect(asked(buyer())).toEqual({
      buyer_id: 7,
      name: 'Ada',
      available: true,
      reason: null,
      message: null,
      details: null,
    }));

  const reached = (of: string) =>
    `the daily cap on attempts of ${of} is reached (50 of 50) and resets at 2026-06-02 00:00 America/New_York`;
  const in_dollars =
    'the monthly cap on revenue of the buyer is reached ($133.50 of $100.00) and resets at 2026-07-01 00:00 Asia/Kolkata';
  test.each<[Reason, Partial<Candidate>, string]>([
    ['paused', { paused: true }, 'the buyer is paused'],
    ['group_paused', through(group({ paused: true })), 'its group "Night" (3) is paused'],
    [
      'closed',
      hours([{ day: 1, times: ['09:00..16:59'] }]),
      'the buyer is closed until 2026-06-01 09:00 America/New_York',
    ],
    ['closed', NEVER, 'the buyer is closed for the next 14 days at least'],
    [
      'suppressed',
      LISTED,
      'the caller\'s number is on a suppression list of the buyer: "List 4" (4), "List 9" (9)',
    ],
    [
      'filter_unmet',
      filters('age:>=18', 'state:in CA,NV'),
      'a filter of the buyer does not hold: state:in CA,NV',
    ],
    ['filter_unmet', filters('malformed'), 'a filter of the buyer does not hold: malformed'],
    ['cap_reached', CAPPED, reached('the buyer')],
    ['cap_reached', through(group(CAPPED)), reached('its group "Night" (3)')],
    [
      'cap_reached',
      cap('buyer_conversion_total', 9, 9),
      'the total cap on conversions of the buyer is reached (9 of 9) and stays so until it is reset',
    ],
    [
      'cap_reached',
      { zone: 'Asia/Kolkata', ...cap('revenue_monthly', 133.5, 100, '2026-06-30T18:30:00Z') },
      in_dollars,
    ],
    [
      'cap_reached',
      cap('attempt_daily', 0, 0),
      'the daily cap on attempts of the buyer allows none',
    ],
    ['concurrency_full', FULL, 'the buyer has 3 of 3 simultaneous calls'],
    [
      'concurrency_full',
      through(group({ ...FULL, name: null })),
      'its group 3 has 3 of 3 simultaneous calls',
    ],
    ['no_number', { number: null }, 'the buyer has no number'],
    ['no_number', { number: ' ' }, 'the buyer has no number'],
  ])('%s', (why, changes, words) =>
    expect(asked(buyer(changes))).toMatchObject({
      buyer_id: 7,
      name: 'Ada',
      available: false,
      reason: why,
      message: words,
    }),
  );

  test('of several reasons the first is told, whether it lies with the buyer or with its group', () => {
    const faults = [
      { paused: true },
      through(group({ paused: true })),
      NEVER,
      LISTED,
      filters('state:CA'),
      CAPPED,
      { number: null },
    ];
    const told = faults.map((_, n) => reason(Object.assign({}, ...faults.slice(n))));
    expect(told).toEqual([
      'paused',
      'group_paused',
      'closed',
      'suppressed',
      'filter_unmet',
      'cap_reached',
      'no_number',
    ]);
    expect(reason({ number: null, ...through(group(FULL)) })).toBe('concurrency_full');
    expect(reason({ ...FULL, ...through(group(CAPPED)) })).toBe('cap_reached');
  });

  test('all filters have to hold, for unknown tokens too, and are asked anew for other tokens', () => {
    expect(
      [
        filters('state:tx'),
        filters('state:TX', 'age:<65'),
        filters('gone:'),
        filters('gone:!=x'),
      ].map((held) => reason(held)),
    ).toEqual(Array(4).fill(null));
    expect(
      [filters('state:TX', 'age:>65'), filters('gone:x'), filters('zip:=~^9')].map((unmet) =>
        reason(unmet),
      ),
    ).toEqual(Array(3).fill('filter_unmet'));
    const candidate = buyer(filters('state:=~^T'));
    const of = (state: string) =>
      eligibility(candidate, { now: new Date(MONDAY), tokens: ownTokens({ state }) }).available;
    expect([of('TX'), of('CA'), of('TN')]).toEqual([true, false, true]);
  });
});

describe('a buyer to which several ways lead', () => {
  const paused = group({ paused: true });
  test.each<[string, Partial<Candidate>]>([
    ['on the offer itself and in a paused group', { groups: [paused] }],
    ['in a paused group and in another', through(paused, group({ id: 4 }))],
    ['in a group whose cap is reached and in another', through(group(CAPPED), group({ id: 4 }))],
    [
      'on the offer itself and in full groups',
      { groups: [group(FULL), group({ id: 4, ...CAPPED })] },
    ],
  ])('could take a call while one is open: %s', (_, ways) => expect(reason(ways)).toBe(null));

  test('could not when none is, and is told what is in the way of each; no way helps one that is itself paused', () => {
    const none = through(group(FULL), group({ id: 4, name: 'Day', paused: true }));
    expect([reason(none), message(none)]).toEqual([
      'group_paused',
      'its group "Night" (3) has 3 of 3 simultaneous calls; its group "Day" (4) is paused',
    ]);
    expect(reason({ paused: true, groups: [group()] })).toBe('paused');
  });
});

describe('business hours', () => {
  const office: ScheduleEntry = { day: 1, times: ['09:00..16:59'] };
  const open = (times: Partial<Candidate>, ...instants: string[]) =>
    instants.map((now) => reason(times, now) === null);

  test('both minutes of a range are open, in the buyer’s zone; a range over midnight runs into the next day', () => {
    const [before, from, until, after] = [
      '2026-06-01T12:59:59Z',
      '2026-06-01T13:00:00Z',
      '2026-06-01T20:59:59Z',
      '2026-06-01T21:00:00Z',
    ];
    expect(open(hours([office]), before, from, until, after)).toEqual([false, true, true, false]);
    expect(
      open(
        hours([{ day: 0, times: ['22:00..02:00'] }]),
        '2026-06-01T06:00:59Z',
        '2026-06-01T06:01:00Z',
      ),
    ).toEqual([true, false]);
  });

  test('entries add up, and a closed buyer opens with the first that does; an entry without days is always open', () => {
    const entries = hours([office], [{ day: 0, times: ['10:00..11:59'] }], [{ day: 3, times: [] }]);
    expect(open(entries, '2026-05-31T14:00:00Z', '2026-05-31T16:00:00Z')).toEqual([true, false]);
    expect(message(entries, '2026-05-31T16:00:00Z')).toBe(
      'the buyer is closed until 2026-06-01 09:00 America/New_York',
    );
    expect(open(hours([office], []), MONDAY)).toEqual([true]);
  });

  test('the hour that the spring night leaves out never comes; both hours called one o’clock on the autumn night are open', () => {
    const spring = hours([{ day: 0, times: ['02:00..02:59', '03:30..04:00'] }]);
    expect(
      open(spring, '2026-03-08T06:59:59Z', '2026-03-08T07:00:00Z', '2026-03-08T07:30:00Z'),
    ).toEqual([false, false, true]);
    expect(message(spring, '2026-03-08T06:59:59Z')).toBe(
      'the buyer is closed until 2026-03-08 03:30 America/New_York',
    );
    const autumn = hours([{ day: 0, times: ['01:00..01:59'] }]);
    expect(
      open(
        autumn,
        '2026-11-01T04:59:59Z',
        '2026-11-01T05:00:00Z',
        '2026-11-01T06:59:59Z',
        '2026-11-01T07:00:00Z',
      ),
    ).toEqual([false, true, true, false]);
  });
});

describe('loading', () => {
  const clock = standingClock(MONDAY);
  let world: World;
  beforeAll(async () => void (world = await createWorld({ clock: clock.read })));
  afterAll(() => world.close());
  beforeEach(() => clock.set(MONDAY));

  const CALLER = '12125550199';
  const DAILY = { times: ['00:00..23:59'] };
  const db = () => world.deps.tenants.of(world.company.id);
  const made = async (
    plural: string,
    body: object = {},
    company: Company = world.company,
  ): Promise<number> => {
    const res = await company.api('post', plural, {
      body: { name: plural, ...(plural === 'buyers' && { number: '+12125550100' }), ...body },
    });
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    return res.body[res.body.metadata.root].id;
  };
  const block = (list: number, ...numbers: string[]) =>
    world.company.api('post', `buyer_suppressions/${list}/caller_block`, {
      body: { caller_ids: numbers.map((number) => `+${number}`) },
    });
  const offerOf = (...buyer_ids: number[]) => made('offers', { buyer_ids });
  /**
   * What calls are routed by, which is kept and only asked for what has changed, and what others
   * read anew, are the same.
   */
  const load = async (offer: number) => {
    const [routed] = await routingCandidates(db(), {
      source: { offer_id: String(offer) },
      numbers: [Number(CALLER)],
      now: clock.read(),
    });
    expect(routed).toEqual(await candidatesOf(db(), offer, CALLER, clock.read()));
    return routed!;
  };
  const used = async (offer: number) => (await load(offer))[0]!.used_up;
  const reasons = async (offer: number) =>
    Object.fromEntries(
      (await load(offer)).map((one) => [one.name, asked(one, clock.read().toISOString()).reason]),
    );
  const at = (now: string, offer: number) => (clock.set(now), reasons(offer));
  const use = (id: number, usage: object, concurrency = 0) =>
    recordUsage(db(), { owner: { buyer_id: BigInt(id) }, usage, concurrency, now: clock.read() });

  test('all facts of a buyer and of its group', async () => {
    const [fleet, list] = [
      await made('buyer_fleets', { user_fleet_id: 'f' }),
      await made('buyer_suppressions', { name: 'DNC' }),
    ];
    await block(list, CALLER);
    const facts = {
      name: 'Ada',
      number: '+12125550100',
      tier: -2.5,
      weight: 0.5,
      time_zone: 'Pacific Time (US & Canada)',
      timeout_seconds: 30,
      dtmf_tones: '1w2',
      press_one_to_accept: true,
      record_calls: true,
      display_caller_id_type: 'display_fake_caller_id' as const,
      route_by_type: 'revenue' as const,
      buyer_type: 'voice_bot' as const,
      buyer_fleet_id: fleet,
      record_token_filter_list: ['state:TX', 'age:>=18'],
      paused: true,
    };
    const schedules: ScheduleEntry[][] = [
      [{ day: 1, ...DAILY }],
      [{ day: 2, times: ['09:00..16:59', '18:00..18:59'] }],
    ];
    const business_hours_schedule = schedules.map((schedule) => ({ schedule }));
    const id = await made('buyers', {
      ...facts,
      buyer_suppression_ids: [list],
      current_conversion_revenue: 12.34,
      business_hours_schedule,
    });
    const ring = {
      name: 'All',
      dial_buyers_type: 'simultaneously' as const,
      tier: 4,
      weight: 2.5,
      paused: true,
    };
    const group_id = await made('buyer_groups', { ...ring, time_zone: 'Tokyo', buyer_ids: [id] });
    const loaded = {
      id,
      zone: 'America/Los_Angeles',
      used_up: null,
      current_conversion_revenue: 12.34,
      most_revenue: 12.34,
      pays_at_dial: true,
      epc: null,
      last_call_at: null,
      display_service_number: null,
      user_buyer_id: null,
      record_token_additional_data: [],
      business_hours: schedules.map(openMinutes),
      direct: true,
    };
    const groups = [{ ...ring, id: group_id, zone: 'Asia/Tokyo', used_up: null }];
    const expected: Candidate = {
      ...facts,
      ...loaded,
      suppressed_by: [{ id: list, name: 'DNC' }],
      groups,
    };
    expect(
      await load(await made('offers', { buyer_ids: [id], buyer_group_ids: [group_id] })),
    ).toEqual([expected]);
  });

  test('a buyer is one candidate however many ways lead to it; those of other offers and deleted ones are none', async () => {
    const [both, grouped, gone] = [
      await made('buyers', { name: 'both' }),
      await made('buyers', { name: 'grouped' }),
      await made('buyers', { name: 'gone' }),
    ];
    const first = await made('buyer_groups', {
      name: 'first',
      buyer_ids: [both, grouped, gone],
      paused: true,
    });
    const second = await made('buyer_groups', { name: 'second', buyer_ids: [grouped] });
    const offer = await made('offers', {
      buyer_ids: [both, gone],
      buyer_group_ids: [first, second],
    });
    await offerOf(await made('buyers'), both);
    await world.company.api('delete', `buyers/${gone}`);
    const way = ({ name, direct, groups }: Candidate) =>
      `${name}:${[...(direct ? ['offer'] : []), ...groups.map((one) => one.name)].join('+')}`;
    const ways = async () => (await load(offer)).map(way).join();
    expect(await ways()).toBe('both:offer+first,grouped:first+second');
    expect(await reasons(offer)).toEqual({ both: null, grouped: null });
    await world.company.api('delete', `buyer_groups/${second}`);
    expect(await ways()).toBe('both:offer+first,grouped:first');
    expect(await reasons(offer)).toEqual({ both: null, grouped: 'group_paused' });
    // A row that says deleted is enough, whatever is still attached.
    await world.sql('UPDATE buyer_groups SET deleted_at = now() WHERE id = $1', [first]);
    await world.sql('UPDATE buyers SET deleted_at = now() WHERE id = $1', [both]);
    expect(await ways()).toBe('');
  });

  test('one statement answers for many, each at its place, and knows companies apart', async () => {
    const other = await world.addCompany();
    const mine = await offerOf(await made('buyers', { name: 'mine' }));
    const theirs = await made(
      'offers',
      { buyer_ids: [await made('buyers', { name: 'theirs' }, other)] },
      other,
    );
    const ask = (company: Company, offer: number) => ({
      company_id: String(company.id),
      offer_id: String(offer),
      caller_number: CALLER,
    });
    const many = [
      ask(world.company, mine),
      ask(other, theirs),
      ask(world.company, theirs),
      ask(other, mine),
      ask(other, 999_999),
      ask(world.company, mine),
    ];
    const client = await world.deps.database.pool.connect();
    const sent = jest.spyOn(client, 'query');
    const found = await loadCandidates(sqlOn(client), many, clock.read());
    expect(sent).toHaveBeenCalledTimes(1);
    sent.mockRestore();
    client.release();
    expect([...found.keys()]).toEqual([0, 1, 2, 3, 4, 5]);
    expect([...found.values()].map((all) => all.map(({ name }) => name).join())).toEqual([
      'mine',
      'theirs',
      '',
      '',
      '',
      'mine',
    ]);
    expect(await loadCandidates(sqlOn(world.deps.database.pool), [], clock.read())).toEqual(
      new Map(),
    );
  });

  test('inside a transaction it finds the same; a limit of 0 never frees', async () => {
    const id = await made('buyers', {
      attempt_daily_limit: 0,
      business_hours_schedule: [{ schedule: [{ day: 1, ...DAILY }] }],
    });
    const offer = await offerOf(id);
    await use(id, {});
    const outside = await load(offer);
    expect(outside[0]!.used_up).toEqual(cap('attempt_daily', 0, 0).used_up);
    expect(
      await db().transaction((tx) => candidatesOf(tx, BigInt(offer), BigInt(CALLER), clock.read())),
    ).toEqual(outside);
  });

  test('a list suppresses the numbers on it for the buyers it is attached to, until it is deleted', async () => {
    const [one, two] = [
      await made('buyers', { name: 'one' }),
      await made('buyers', { name: 'two' }),
    ];
    const attached = await made('buyer_suppressions', { name: 'a', buyer_ids: [one] });
    const shared = await made('buyer_suppressions', { name: 'b', buyer_ids: [one, two] });
    for (const list of [attached, shared, await made('buyer_suppressions', { name: 'of none' })])
      await block(list, CALLER);
    await block(shared, '12125550155');
    const offer = await offerOf(one, two);
    const ask = (caller_number: string) => ({
      company_id: String(world.company.id),
      offer_id: String(offer),
      caller_number,
    });
    const suppressed = async () => {
      const found = await loadCandidates(
        sqlOn(world.deps.database.pool),
        [ask(CALLER), ask('12125550155'), ask('12125550156')],
        clock.read(),
      );
      return [...found.values()].map((all) =>
        all
          .map(
            ({ name, suppressed_by }) =>
              `${name}:${suppressed_by.map((list) => list.name).join('+')}`,
          )
          .join(),
      );
    };
    expect(await suppressed()).toEqual(['one:a+b,two:b', 'one:b,two:b', 'one:,two:']);
    expect(await reasons(offer)).toEqual({ one: 'suppressed', two: 'suppressed' });
    await world.company.api('delete', `buyer_suppressions/${shared}`);
    expect(await suppressed()).toEqual(['one:a,two:', 'one:,two:', 'one:,two:']);
    await world.sql('UPDATE buyer_suppressions SET deleted_at = now() WHERE id = $1', [attached]);
    expect(await suppressed()).toEqual(['one:,two:', 'one:,two:', 'one:,two:']);
  });

  test('a cap is used up until its window has passed in the owner’s zone, as the buyer itself says', async () => {
    const limits = {
      attempt_daily_limit: 2,
      attempt_monthly_limit: 3,
      revenue_total_limit: 50,
      concurrency_cap_limit: 1,
    };
    const id = await made('buyers', { name: 'x', time_zone: NEW_YORK, ...limits });
    const offer = await offerOf(id);
    await use(id, {}, 1);
    expect([await used(offer), await reasons(offer)]).toEqual([
      cap('concurrency', 1, 1).used_up,
      { x: 'concurrency_full' },
    ]);
    await use(id, {}, -1);
    expect(await reasons(offer)).toEqual({ x: null });
    await use(id, { attempt: 2 });
    expect(await used(offer)).toEqual(cap('attempt_daily', 2, 2, '2026-06-02T04:00:00Z').used_up);
    expect((await world.company.api('get', `buyers/${id}`)).body.buyer.maxed_out_by).toBe(
      'attempt_daily',
    );
    expect(await at('2026-06-02T03:59:59Z', offer)).toEqual({ x: 'cap_reached' });
    expect(await at('2026-06-02T04:00:00Z', offer)).toEqual({ x: null });
    await use(id, { attempt: 2, revenue: 33.33 });
    expect(await used(offer)).toEqual(cap('attempt_monthly', 4, 3, '2026-07-01T04:00:00Z').used_up);
    await use(id, { revenue: 33.33 });
    expect(await used(offer)).toEqual(cap('revenue_total', 66.66, 50).used_up);
  });

  test('what is kept of caps is what the database says, however changes and looks come together', async () => {
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        made('buyers', { name: `${n}`, concurrency_cap_limit: 1, attempt_total_limit: 9 }),
      ),
    );
    const offer = await offerOf(...ids);
    const source = { offer_id: String(offer) };
    const look = () =>
      routingCandidates(db(), { source, numbers: [Number(CALLER)], now: clock.read() });
    for (let round = 0; round < 15; round++) {
      const moves = ids.flatMap((id, n) => [
        use(id, { attempt: (round + n) % 3 === 0 ? 1 : 0 }, (round + n) % 2 === 0 ? 1 : -1),
        look(),
      ]);
      // A transaction that began before all of them and ends after some.
      const slow = db()
        .transaction(async (tx) => {
          await recordUsage(tx, {
            owner: { buyer_id: BigInt(ids[round % 6]!) },
            usage: {},
            concurrency: round % 2 === 0 ? 1 : -1,
            now: clock.read(),
          });
          await look();
          await look();
        })
        .catch(() => undefined);
      await Promise.all([...moves, slow, look()]);
      await load(offer);
    }
    const changed = await world.company.api('put', `buyers/${ids[0]}`, {
      body: { concurrency_cap_limit: 0 },
    });
    expect(changed.status).toBe(200);
    expect((await load(offer))[0]!.used_up).toMatchObject({ cap: 'concurrency', limit: 0 });
  });

  test('a group’s caps keep its members from calls, and not those on the offer itself', async () => {
    const buyer_ids = [
      await made('buyers', { name: 'direct' }),
      await made('buyers', { name: 'member' }),
    ];
    const id = await made('buyer_groups', {
      buyer_ids,
      attempt_hourly_limit: 1,
      concurrency_cap: 1,
      time_zone: 'Tokyo',
    });
    const offer = await made('offers', { buyer_ids: buyer_ids.slice(0, 1), buyer_group_ids: [id] });
    await recordUsage(db(), {
      owner: { buyer_group_id: BigInt(id) },
      usage: { attempt: 1 },
      concurrency: 1,
      now: clock.read(),
    });
    expect((await load(offer))[1]!.groups).toMatchObject([
      cap('attempt_hourly', 1, 1, '2026-06-01T13:00:00Z'),
    ]);
    expect(await reasons(offer)).toEqual({ direct: null, member: 'cap_reached' });
    expect(await at('2026-06-01T13:00:00Z', offer)).toEqual({
      direct: null,
      member: 'concurrency_full',
    });
  });

  test('hourly limits are those of the first open entry of the business hours', async () => {
    const entry = (attempt_hourly_limit: number, times: string) => ({
      attempt_hourly_limit,
      schedule: [{ day: 1, times: [times] }],
    });
    const id = await made('buyers', {
      name: 'x',
      time_zone: NEW_YORK,
      business_hours_schedule: [entry(1, '09:00..09:59'), entry(2, '08:00..16:59')],
    });
    const offer = await offerOf(id);
    await use(id, { attempt: 1 });
    expect(await reasons(offer)).toEqual({ x: null });
    await use(id, { attempt: 1 });
    expect(await used(offer)).toEqual(cap('attempt_hourly', 2, 2, '2026-06-01T13:00:00Z').used_up);
    expect(await at('2026-06-01T13:00:00Z', offer)).toEqual({ x: null });
    await use(id, { attempt: 1 });
    expect(await used(offer)).toEqual(cap('attempt_hourly', 1, 1, '2026-06-01T14:00:00Z').used_up);
    expect(await at('2026-06-01T21:00:00Z', offer)).toEqual({ x: 'closed' });
  });

  test('the revenue is that of the conversion that is current in the buyer’s zone', async () => {
    const frame = (revenue: number, day: number) => ({
      schedule: [{ day, ...DAILY }],
      buyer_conversions_attributes: [{ revenue, duration: 0 }],
    });
    const offer = await offerOf(
      await made('buyers', {
        time_zone: 'Tokyo',
        buyer_conversions_schedule: [frame(10, 1), frame(20, 2)],
      }),
    );
    const revenue = async (now: string) => (
      clock.set(now),
      (await load(offer))[0]!.current_conversion_revenue
    );
    expect([
      await revenue('2026-06-01T14:59:59Z'),
      await revenue('2026-06-01T15:00:00Z'),
      await revenue('2026-06-03T15:00:00Z'),
    ]).toEqual([10, 20, null]);
  });
});
