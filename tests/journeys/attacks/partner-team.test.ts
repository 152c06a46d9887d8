import { createMember, withToken, type Member } from '../../support/teams';
import { useWorld } from '../../support/use-world';

// The team that is generated for a buyer or a group: its users pause, set hours and contact data,
// and lower caps. They raise no cap above what the network has set.

const world = useWorld();
const { ok: sendAsNetwork, create } = world;

let partnerCount = 0;
interface Partner {
  path: string;
  api: Member['api'];
  /** Changes the record; returns the status and the fields that are refused. */
  put(body: object): Promise<[number, string[]]>;
  load(): Promise<Record<string, unknown>>;
}
const PRICED_FIELDS = {
  number: '+12125550199',
  current_conversion_revenue: 20,
  current_conversion_duration: 60,
  tier: 3,
};
const createPartner = async (kind: 'buyer' | 'buyer_group', fields: object): Promise<Partner> => {
  const email = `partner${++partnerCount}@example.com`;
  const priced = kind === 'buyer' && PRICED_FIELDS;
  const path = `${kind}s/${await create(`${kind}s`, { name: 'Mine', ...priced, ...fields })}`;
  await sendAsNetwork('put', path, { generate_team: true, team_users_emails: [email] });
  const { token } = await sendAsNetwork('post', 'access_tokens', {
    name: 'Partner',
    kind: 'user_token',
    user_email: email,
  });
  const api = withToken(world.company.api, token);
  return {
    path,
    api,
    put: async (body) => {
      const res = await api('put', path, { body });
      return [res.status, Object.keys(res.body.errors)];
    },
    load: async () => (await sendAsNetwork('get', path))[kind],
  };
};

test('a partner sets no price, tier, weight, destination or filter', async () => {
  const partner = await createPartner('buyer', { attempt_daily_limit: 10 });
  const before = await partner.load();
  const attempts = {
    current_conversion_revenue: 0.01,
    tier: -100,
    weight: 100_000,
    number: '+13105550666',
    record_token_filter_list: [],
    buyer_conversions_schedule: [],
    route_by_type: 'revenue',
    timeout_seconds: 600,
    time_zone: 'UTC',
    reset_total_caps: true,
    attempt_daily_limit: 1000,
  };
  for (const [field, value] of Object.entries(attempts))
    expect(await partner.put({ [field]: value })).toEqual([422, [field]]);
  expect(await partner.load()).toEqual(before);
});

test('a partner pauses, sets hours and contact data, and lowers caps', async () => {
  const partner = await createPartner('buyer', { attempt_daily_limit: 10 });
  const hours = [{ schedule: [{ day: 1, times: ['09:00..16:59'] }] }];
  const fields = {
    paused: true,
    name: 'Renamed',
    email: 'ops@example.com',
    business_hours_schedule: hours,
    attempt_daily_limit: 4,
    concurrency_cap_limit: 2,
  };
  expect(await partner.put(fields)).toEqual([200, []]);
  expect(await partner.load()).toMatchObject({
    paused: true,
    email: 'ops@example.com',
    attempt_daily_limit: 4,
    concurrency_cap_limit: 2,
  });
});

test.each(['buyer', 'buyer_group'] as const)(
  'a partner of a %s raises a cap again, up to what the network has set',
  async (kind) => {
    const partner = await createPartner(kind, {
      attempt_daily_limit: 10,
      revenue_total_limit: 99.5,
    });
    const cap = (attemptDailyLimit: unknown) =>
      partner.put({ attempt_daily_limit: attemptDailyLimit });
    expect(await cap(5)).toEqual([200, []]);
    expect(await cap(11)).toEqual([422, ['attempt_daily_limit']]);
    expect(await cap('11')).toEqual([422, ['attempt_daily_limit']]);
    expect(await cap(null)).toEqual([422, ['attempt_daily_limit']]);
    expect(await cap('')).toEqual([422, ['attempt_daily_limit']]);
    expect(await cap(10)).toEqual([200, []]);
    expect(await partner.put({ revenue_total_limit: 99.51 })).toEqual([
      422,
      ['revenue_total_limit'],
    ]);
    // The change is refused as a whole; the answer names each refused field.
    expect(
      await partner.put({
        attempt_daily_limit: 1,
        revenue_total_limit: 100,
        connection_total_limit: 7,
      }),
    ).toEqual([422, ['revenue_total_limit']]);
    expect((await partner.load()).attempt_daily_limit).toBe(10);
    // No cap of the network: the partner sets one, and takes it away again.
    expect(await partner.put({ connection_total_limit: 7 })).toEqual([200, []]);
    expect(await partner.put({ connection_total_limit: null })).toEqual([200, []]);
    // A later limit of the network counts, higher or lower.
    await sendAsNetwork('put', partner.path, { attempt_daily_limit: 3 });
    expect(await cap(4)).toEqual([422, ['attempt_daily_limit']]);
    expect(await cap(2)).toEqual([200, []]);
    await sendAsNetwork('put', partner.path, { attempt_daily_limit: null });
    expect(await cap(1000)).toEqual([200, []]);
  },
);

test('the limit of concurrency of a group is refused by the name that it has there', async () => {
  const partner = await createPartner('buyer_group', { concurrency_cap: 3 });
  expect(await partner.put({ concurrency_cap: 4 })).toEqual([422, ['concurrency_cap']]);
  expect(await partner.put({ concurrency_cap: 2 })).toEqual([200, []]);
  expect(await partner.put({ buyer_ids: [] })).toEqual([422, ['buyer_ids']]);
});

describe('hourly limits in business hours', () => {
  const monday = { day: 1, times: ['09:00..16:59'] };
  const tuesday = { day: 2, times: ['09:00..16:59'] };
  const night = { day: 1, times: ['17:00..23:59'] };

  test('are raised at no time of the week', async () => {
    const partner = await createPartner('buyer', {
      business_hours_schedule: [
        { attempt_hourly_limit: 9, schedule: [monday] },
        { attempt_hourly_limit: 2, schedule: [night] },
      ],
    });
    const put = (businessHoursSchedule: object[]) =>
      partner.put({ business_hours_schedule: businessHoursSchedule });
    const field = (n: number) => `business_hours_schedule.${n}.attempt_hourly_limit`;
    expect(await put([{ attempt_hourly_limit: 10, schedule: [monday] }])).toEqual([
      422,
      [field(0)],
    ]);
    expect(await put([{ schedule: [monday] }])).toEqual([422, [field(0)]]);
    expect(await put([])).toEqual([422, ['business_hours_schedule']]);
    // The night has a lower limit than the day.
    expect(
      await put([
        { attempt_hourly_limit: 9, schedule: [monday] },
        { attempt_hourly_limit: 3, schedule: [night] },
      ]),
    ).toEqual([422, [field(1)]]);
    expect(await put([{ attempt_hourly_limit: 1, schedule: [monday, tuesday] }])).toEqual([
      200,
      [],
    ]);
    // A second change does not start from the first.
    expect(await put([{ attempt_hourly_limit: 9, schedule: [monday, tuesday] }])).toEqual([
      200,
      [],
    ]);
    expect(await put([{ attempt_hourly_limit: 10, schedule: [tuesday] }])).toEqual([
      422,
      [field(0)],
    ]);
  });

  test('are free where the network has set none, and follow what it sets later', async () => {
    const partner = await createPartner('buyer', {});
    const put = (attemptHourlyLimit: number | null) =>
      partner.put({
        business_hours_schedule: [{ attempt_hourly_limit: attemptHourlyLimit, schedule: [monday] }],
      });
    expect([await put(5), await put(50)]).toEqual([
      [200, []],
      [200, []],
    ]);
    await sendAsNetwork('put', partner.path, {
      business_hours_schedule: [{ attempt_hourly_limit: 6, schedule: [monday] }],
    });
    expect((await put(7))[0]).toBe(422);
    expect((await put(6))[0]).toBe(200);
  });
});

test('a change of the network and one of the partner at once leave no cap above the former', async () => {
  const partner = await createPartner('buyer', { attempt_daily_limit: 10 });
  for (let n = 0; n < 15; n++) {
    await sendAsNetwork('put', partner.path, { attempt_daily_limit: 10 });
    await Promise.all([
      partner.put({ attempt_daily_limit: 9 }),
      sendAsNetwork('put', partner.path, { attempt_daily_limit: 5 }),
      partner.put({ attempt_daily_limit: 8 }),
    ]);
    expect(Number((await partner.load()).attempt_daily_limit)).toBeLessThanOrEqual(5);
    expect((await partner.put({ attempt_daily_limit: 6 }))[0]).toBe(422);
  }
});

test('the database holds the bound, whatever statement changes a limit', async () => {
  const partner = await createPartner('buyer', { attempt_daily_limit: 10 });
  await partner.put({ attempt_daily_limit: 5 });
  const raise = world.sql(`UPDATE call_limits SET attempt_daily_limit = 11 WHERE buyer_id = $1`, [
    partner.path.split('/')[1],
  ]);
  await expect(raise).rejects.toThrow('call_limits_network_check');
});

test('a buyer that a partner makes has no bounds but those that the network sets later', async () => {
  const { api } = await createMember(world.company, 'maker@example.com', {
    permissions: ['buyers:create', 'buyers:read', 'buyers:update'],
  });
  const res = await api('post', 'buyers', { body: { name: 'Own', attempt_daily_limit: 5 } });
  expect(res.status).toBe(201);
  const path = `buyers/${res.body.buyer.id}`;
  expect((await api('put', path, { body: { attempt_daily_limit: 50 } })).status).toBe(200);
  await sendAsNetwork('put', path, { attempt_daily_limit: 7 });
  expect((await api('put', path, { body: { attempt_daily_limit: 8 } })).status).toBe(422);
  const copy = await api('post', 'buyers', { body: { copy_another_buyer: res.body.buyer.id } });
  expect(Object.keys(copy.body.errors)).toEqual(['copy_another_buyer']);
});
