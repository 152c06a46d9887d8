import type { Candidate } from '../../../src/domain/routing/engine/candidate';
import { openMinutes, type ScheduleEntry } from '../../../src/platform/time/opening-hours';
import { CALLER, candidateWorld, loadCandidates } from '../../support/candidate-world';
import { cap, MONDAY } from '../../support/candidates';
import { countRoutingChange } from '../../support/routing-changes';

const DAILY = { times: ['00:00..23:59'] };

let setup: Awaited<ReturnType<typeof candidateWorld>>;
beforeAll(async () => void (setup = await candidateWorld()));
afterAll(() => setup.world.close());
beforeEach(() => setup.clock.set(MONDAY));

test('all facts of a buyer and of its group', async () => {
  const [fleet, list] = [
    await setup.create('buyer_fleets', { user_fleet_id: 'f' }),
    await setup.create('buyer_suppressions', { name: 'DNC' }),
  ];
  await setup.block(list, CALLER);
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
  const businessHoursSchedule = schedules.map((schedule) => ({ schedule }));
  const id = await setup.create('buyers', {
    ...facts,
    buyer_suppression_ids: [list],
    current_conversion_revenue: 12.34,
    current_conversion_duration: 0,
    business_hours_schedule: businessHoursSchedule,
  });
  const ring = {
    name: 'All',
    dial_buyers_type: 'simultaneously' as const,
    tier: 4,
    weight: 2.5,
    paused: true,
  };
  const groupId = await setup.create('buyer_groups', {
    ...ring,
    time_zone: 'Tokyo',
    buyer_ids: [id],
  });
  const loaded = {
    id,
    zone: 'America/Los_Angeles',
    used_up: null,
    current_conversion_revenue: 12.34,
    most_revenue: 12.34,
    pays_at_dial: true,
    bid: null,
    epc: null,
    display_service_number: null,
    user_buyer_id: null,
    sip_headers: null,
    record_token_additional_data: [],
    business_hours: schedules.map(openMinutes),
    direct: true,
  };
  const groups = [{ ...ring, id: groupId, zone: 'Asia/Tokyo', used_up: null }];
  const expected: Candidate = {
    ...facts,
    ...loaded,
    suppressed_by: [{ id: list, name: 'DNC' }],
    groups,
  };
  expect(
    await setup.load(await setup.create('offers', { buyer_ids: [id], buyer_group_ids: [groupId] })),
  ).toEqual([expected]);
});

test('a buyer comes once, however many ways lead to it, and deleted ones do not', async () => {
  const [both, grouped, deletedBuyer] = [
    await setup.create('buyers', { name: 'both' }),
    await setup.create('buyers', { name: 'grouped' }),
    await setup.create('buyers', { name: 'gone' }),
  ];
  const first = await setup.create('buyer_groups', {
    name: 'first',
    buyer_ids: [both, grouped, deletedBuyer],
    paused: true,
  });
  const second = await setup.create('buyer_groups', { name: 'second', buyer_ids: [grouped] });
  const offer = await setup.create('offers', {
    buyer_ids: [both, deletedBuyer],
    buyer_group_ids: [first, second],
  });
  await setup.createOffer(await setup.create('buyers'), both);
  await setup.world.company.api('delete', `buyers/${deletedBuyer}`);
  const formatPaths = ({ name, direct, groups }: Candidate) =>
    `${name}:${[...(direct ? ['offer'] : []), ...groups.map((group) => group.name)].join('+')}`;
  const listPaths = async () => (await setup.load(offer)).map(formatPaths).join();
  expect(await listPaths()).toBe('both:offer+first,grouped:first+second');
  expect(await setup.reasons(offer)).toEqual({ both: null, grouped: null });
  await setup.world.company.api('delete', `buyer_groups/${second}`);
  expect(await listPaths()).toBe('both:offer+first,grouped:first');
  expect(await setup.reasons(offer)).toEqual({ both: null, grouped: 'group_paused' });
  // A row that says deleted is enough, whatever is still attached.
  await setup.world.sql('UPDATE buyer_groups SET deleted_at = now() WHERE id = $1', [first]);
  await setup.world.sql('UPDATE buyers SET deleted_at = now() WHERE id = $1', [both]);
  await countRoutingChange(setup.world);
  expect(await listPaths()).toBe('');
});

test('a company reads the buyers of its own offers only', async () => {
  const otherCompany = await setup.world.addCompany();
  const mine = await setup.createOffer(await setup.create('buyers', { name: 'mine' }));
  const theirs = await setup.create(
    'offers',
    { buyer_ids: [await setup.create('buyers', { name: 'theirs' }, otherCompany)] },
    otherCompany,
  );
  const names = async (companyId: bigint, offer: number) => {
    const db = setup.world.deps.tenants.of(companyId);
    return (await loadCandidates({ db, offer, now: setup.clock.read() })).map(({ name }) => name);
  };
  const { id } = setup.world.company;
  expect(await names(id, mine)).toEqual(['mine']);
  expect(await names(otherCompany.id, theirs)).toEqual(['theirs']);
  for (const [companyId, offer] of [
    [id, theirs],
    [otherCompany.id, mine],
    [otherCompany.id, 999_999],
  ] as const)
    expect(await names(companyId, offer)).toEqual([]);
});

test('inside a transaction it reads the same; a limit of 0 never frees', async () => {
  const id = await setup.create('buyers', {
    attempt_daily_limit: 0,
    business_hours_schedule: [{ schedule: [{ day: 1, ...DAILY }] }],
  });
  const offer = await setup.createOffer(id);
  await setup.use(id, {});
  const outside = await setup.load(offer);
  expect(outside[0]!.used_up).toEqual(cap('attempt_daily', 0, 0).used_up);
  expect(
    await setup
      .db()
      .transaction((tx) => loadCandidates({ db: tx, offer, now: setup.clock.read() })),
  ).toEqual(outside);
});

test('a list suppresses its numbers for its buyers, until it is deleted', async () => {
  const [firstBuyer, secondBuyer] = [
    await setup.create('buyers', { name: 'first' }),
    await setup.create('buyers', { name: 'two' }),
  ];
  const attached = await setup.create('buyer_suppressions', { name: 'a', buyer_ids: [firstBuyer] });
  const shared = await setup.create('buyer_suppressions', {
    name: 'b',
    buyer_ids: [firstBuyer, secondBuyer],
  });
  for (const list of [
    attached,
    shared,
    await setup.create('buyer_suppressions', { name: 'of none' }),
  ])
    await setup.block(list, CALLER);
  await setup.block(shared, '12125550155');
  const offer = await setup.createOffer(firstBuyer, secondBuyer);
  const suppressed = async () => {
    const lists = [];
    for (const number of [CALLER, '12125550155', '12125550156'])
      lists.push(
        (await loadCandidates({ db: setup.db(), offer, number, now: setup.clock.read() }))
          .map(
            ({ name, suppressed_by }) =>
              `${name}:${suppressed_by.map((list) => list.name).join('+')}`,
          )
          .join(),
      );
    return lists;
  };
  expect(await suppressed()).toEqual(['first:a+b,two:b', 'first:b,two:b', 'first:,two:']);
  expect(await setup.reasons(offer)).toEqual({ first: 'suppressed', two: 'suppressed' });
  await setup.world.company.api('delete', `buyer_suppressions/${shared}`);
  expect(await suppressed()).toEqual(['first:a,two:', 'first:,two:', 'first:,two:']);
  await setup.world.sql('UPDATE buyer_suppressions SET deleted_at = now() WHERE id = $1', [
    attached,
  ]);
  expect(await suppressed()).toEqual(['first:,two:', 'first:,two:', 'first:,two:']);
});

test('the revenue is that of the conversion that is current in the buyer’s zone', async () => {
  const frame = (revenue: number, day: number) => ({
    schedule: [{ day, ...DAILY }],
    buyer_conversions_attributes: [{ revenue, duration: 0 }],
  });
  const offer = await setup.createOffer(
    await setup.create('buyers', {
      time_zone: 'Tokyo',
      buyer_conversions_schedule: [frame(10, 1), frame(20, 2)],
    }),
  );
  const revenue = async (now: string) => (
    setup.clock.set(now),
    (await setup.load(offer))[0]!.current_conversion_revenue
  );
  expect([
    await revenue('2026-06-01T14:59:59Z'),
    await revenue('2026-06-01T15:00:00Z'),
    await revenue('2026-06-03T15:00:00Z'),
  ]).toEqual([10, 20, null]);
});
