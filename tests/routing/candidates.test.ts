import type { Candidate } from '../../src/routing/engine/candidate';
import { candidatesOf } from '../../src/routing/load-candidates';
import { openMinutes, type ScheduleEntry } from '../../src/time/opening-hours';
import { CALLER, candidateWorld } from '../support/candidate-world';
import { cap, MONDAY } from '../support/candidates';
import { countRoutingChange } from '../support/routing-changes';

const DAILY = { times: ['00:00..23:59'] };

let own: Awaited<ReturnType<typeof candidateWorld>>;
beforeAll(async () => void (own = await candidateWorld()));
afterAll(() => own.world.close());
beforeEach(() => own.clock.set(MONDAY));

test('all facts of a buyer and of its group', async () => {
  const [fleet, list] = [
    await own.made('buyer_fleets', { user_fleet_id: 'f' }),
    await own.made('buyer_suppressions', { name: 'DNC' }),
  ];
  await own.block(list, CALLER);
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
  const id = await own.made('buyers', {
    ...facts,
    buyer_suppression_ids: [list],
    current_conversion_revenue: 12.34,
    current_conversion_duration: 0,
    business_hours_schedule,
  });
  const ring = {
    name: 'All',
    dial_buyers_type: 'simultaneously' as const,
    tier: 4,
    weight: 2.5,
    paused: true,
  };
  const group_id = await own.made('buyer_groups', { ...ring, time_zone: 'Tokyo', buyer_ids: [id] });
  const loaded = {
    id,
    zone: 'America/Los_Angeles',
    used_up: null,
    current_conversion_revenue: 12.34,
    most_revenue: 12.34,
    pays_at_dial: true,
    bid: null,
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
    await own.load(await own.made('offers', { buyer_ids: [id], buyer_group_ids: [group_id] })),
  ).toEqual([expected]);
});

test('a buyer comes once, however many ways lead to it, and deleted ones do not', async () => {
  const [both, grouped, gone] = [
    await own.made('buyers', { name: 'both' }),
    await own.made('buyers', { name: 'grouped' }),
    await own.made('buyers', { name: 'gone' }),
  ];
  const first = await own.made('buyer_groups', {
    name: 'first',
    buyer_ids: [both, grouped, gone],
    paused: true,
  });
  const second = await own.made('buyer_groups', { name: 'second', buyer_ids: [grouped] });
  const offer = await own.made('offers', {
    buyer_ids: [both, gone],
    buyer_group_ids: [first, second],
  });
  await own.offerOf(await own.made('buyers'), both);
  await own.world.company.api('delete', `buyers/${gone}`);
  const way = ({ name, direct, groups }: Candidate) =>
    `${name}:${[...(direct ? ['offer'] : []), ...groups.map((one) => one.name)].join('+')}`;
  const ways = async () => (await own.load(offer)).map(way).join();
  expect(await ways()).toBe('both:offer+first,grouped:first+second');
  expect(await own.reasons(offer)).toEqual({ both: null, grouped: null });
  await own.world.company.api('delete', `buyer_groups/${second}`);
  expect(await ways()).toBe('both:offer+first,grouped:first');
  expect(await own.reasons(offer)).toEqual({ both: null, grouped: 'group_paused' });
  // A row that says deleted is enough, whatever is still attached.
  await own.world.sql('UPDATE buyer_groups SET deleted_at = now() WHERE id = $1', [first]);
  await own.world.sql('UPDATE buyers SET deleted_at = now() WHERE id = $1', [both]);
  await countRoutingChange(own.world);
  expect(await ways()).toBe('');
});

test('a company reads the buyers of its own offers only', async () => {
  const other = await own.world.addCompany();
  const mine = await own.offerOf(await own.made('buyers', { name: 'mine' }));
  const theirs = await own.made(
    'offers',
    { buyer_ids: [await own.made('buyers', { name: 'theirs' }, other)] },
    other,
  );
  const names = async (company_id: bigint, offer: number) => {
    const db = own.world.deps.tenants.of(company_id);
    return (await candidatesOf(db, offer, CALLER, own.clock.read())).map(({ name }) => name);
  };
  const { id } = own.world.company;
  expect(await names(id, mine)).toEqual(['mine']);
  expect(await names(other.id, theirs)).toEqual(['theirs']);
  for (const [company_id, offer] of [
    [id, theirs],
    [other.id, mine],
    [other.id, 999_999],
  ] as const)
    expect(await names(company_id, offer)).toEqual([]);
});

test('inside a transaction it reads the same; a limit of 0 never frees', async () => {
  const id = await own.made('buyers', {
    attempt_daily_limit: 0,
    business_hours_schedule: [{ schedule: [{ day: 1, ...DAILY }] }],
  });
  const offer = await own.offerOf(id);
  await own.use(id, {});
  const outside = await own.load(offer);
  expect(outside[0]!.used_up).toEqual(cap('attempt_daily', 0, 0).used_up);
  expect(
    await own
      .db()
      .transaction((tx) => candidatesOf(tx, BigInt(offer), BigInt(CALLER), own.clock.read())),
  ).toEqual(outside);
});

test('a list suppresses its numbers for its buyers, until it is deleted', async () => {
  const [one, two] = [
    await own.made('buyers', { name: 'one' }),
    await own.made('buyers', { name: 'two' }),
  ];
  const attached = await own.made('buyer_suppressions', { name: 'a', buyer_ids: [one] });
  const shared = await own.made('buyer_suppressions', { name: 'b', buyer_ids: [one, two] });
  for (const list of [attached, shared, await own.made('buyer_suppressions', { name: 'of none' })])
    await own.block(list, CALLER);
  await own.block(shared, '12125550155');
  const offer = await own.offerOf(one, two);
  const suppressed = async () => {
    const found = [];
    for (const number of [CALLER, '12125550155', '12125550156'])
      found.push(
        (await candidatesOf(own.db(), offer, number, own.clock.read()))
          .map(
            ({ name, suppressed_by }) =>
              `${name}:${suppressed_by.map((list) => list.name).join('+')}`,
          )
          .join(),
      );
    return found;
  };
  expect(await suppressed()).toEqual(['one:a+b,two:b', 'one:b,two:b', 'one:,two:']);
  expect(await own.reasons(offer)).toEqual({ one: 'suppressed', two: 'suppressed' });
  await own.world.company.api('delete', `buyer_suppressions/${shared}`);
  expect(await suppressed()).toEqual(['one:a,two:', 'one:,two:', 'one:,two:']);
  await own.world.sql('UPDATE buyer_suppressions SET deleted_at = now() WHERE id = $1', [attached]);
  expect(await suppressed()).toEqual(['one:,two:', 'one:,two:', 'one:,two:']);
});

test('the revenue is that of the conversion that is current in the buyer’s zone', async () => {
  const frame = (revenue: number, day: number) => ({
    schedule: [{ day, ...DAILY }],
    buyer_conversions_attributes: [{ revenue, duration: 0 }],
  });
  const offer = await own.offerOf(
    await own.made('buyers', {
      time_zone: 'Tokyo',
      buyer_conversions_schedule: [frame(10, 1), frame(20, 2)],
    }),
  );
  const revenue = async (now: string) => (
    own.clock.set(now),
    (await own.load(offer))[0]!.current_conversion_revenue
  );
  expect([
    await revenue('2026-06-01T14:59:59Z'),
    await revenue('2026-06-01T15:00:00Z'),
    await revenue('2026-06-03T15:00:00Z'),
  ]).toEqual([10, 20, null]);
});
