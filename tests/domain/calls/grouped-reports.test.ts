import type { Schemas } from '../../../src/platform/contract/contract';
import { createCallWriter, type CallFields } from '../../support/calls';
import { standingClock } from '../../support/clock';
import { randomCalls, buildReport } from '../../support/grouped-reports';
import { bindCreate } from '../../support/reports';
import { createMember } from '../../support/teams';
import { createWorld, type Company, type World } from '../../support/world';

type Report = Schemas['GroupedCallReport'];

let world: World;
const time = standingClock('2027-04-30T12:00:00.000Z');
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());

const ask = async ({ api }: Pick<Company, 'api'>, query: object): Promise<Report> => {
  const res = await api('get', 'calls/reports/grouped', { query });
  expect([query, res.status, res.body.errors]).toEqual([query, 200, undefined]);
  return res.body;
};
const listKeys = ({ groups }: Report['rows'][number]) => groups.map(({ key }) => key);

describe('random calls, compared with adding them up one by one', () => {
  let company: Company;
  let calls: CallFields[];

  beforeAll(async () => {
    company = await world.addCompany();
    const make = bindCreate(company);
    const [buyers, sources, offers] = [
      [await make('buyers', 'buyer', { name: 'A' }), await make('buyers', 'buyer', { name: 'B' })],
      [await make('traffic_sources', 'traffic_source', { name: 'S' })],
      [await make('offers', 'offer', { name: 'O' })],
    ];
    // From before the clocks of New York go back until after those of Havana go forward.
    calls = randomCalls({ buyers, sources, offers, from: '2026-10-25', days: 150, count: 400 });
    const { call } = createCallWriter(world, company);
    for (const fields of calls) await call(fields);
  });

  const CASES = [
    [['buyer', 'traffic_source', 'day'], 'America/New_York'],
    [['hour'], 'America/New_York'],
    // The clocks change at midnight, so that one midnight comes twice and another one never.
    [['day', 'hour_of_day'], 'America/Havana'],
    [['day_of_week', 'hour_of_day', 'sub_id'], 'Asia/Kathmandu'],
    // The clocks change by half an hour.
    [['hour', 'offer'], 'Australia/Lord_Howe'],
    [['month', 'state', 'number'], 'Pacific/Auckland'],
    [['week', 'token'], 'UTC'],
    [['month', 'day', 'week'], 'America/Havana'],
  ] as const;

  test.each(CASES)('by %p in %s', async (groupBy, timeZone) => {
    const query = {
      group_by: groupBy.join(),
      time_zone: timeZone,
      per_page: 1000,
      ...(([...groupBy] as string[]).includes('token') && { token_key: 'campaign' }),
    };
    const { rows, totals, metadata } = await ask(company, query);
    const expected = buildReport(calls, groupBy, timeZone);
    expect(
      new Map(rows.map(({ groups: _, ...figures }, n) => [listKeys(rows[n]!).join('|'), figures])),
    ).toEqual(expected.rows);
    expect(totals).toEqual(expected.totals);
    expect(metadata).toMatchObject({
      group_by: groupBy,
      time_zone: timeZone,
      total_count: expected.rows.size,
    });
  });

  test.each(['inbound', 'outbound'])('of %s calls alone', async (category) => {
    const chosen = calls.filter(({ direction }) => direction === category);
    const expected = buildReport(chosen, ['day', 'buyer'], 'UTC');
    const query = { group_by: 'day,buyer', per_page: 1000, call_category: category };
    const { rows, totals, metadata } = await ask(company, query);
    expect([rows.length, metadata.sandbox_calls]).toEqual([expected.rows.size, chosen.length]);
    expect(totals).toEqual(expected.totals);
  });

  test('of a time and of one buyer', async () => {
    const query = { created_at_from: '2026-11-01', created_at_to: '2026-11-30T23:59:59' };
    const within = calls.filter(({ created_at }) => String(created_at).startsWith('2026-11'));
    expect((await ask(company, query)).totals).toEqual(buildReport(within, ['day'], 'UTC').totals);
    expect((await ask(company, query)).metadata.sandbox_calls).toBe(within.length);
    const { buyer_id } = calls.find((call) => call.buyer_id)!;
    const ofBuyer = within.filter((call) => call.buyer_id === buyer_id);
    expect((await ask(company, { ...query, buyer_id })).totals).toEqual(
      buildReport(ofBuyer, ['day'], 'UTC').totals,
    );
  });

  test('pages in either order have each row once, and the totals of all', async () => {
    const query = { group_by: 'day,sub_id', time_zone: 'America/New_York' };
    const { rows, totals, metadata } = await ask(company, { ...query, per_page: 1000 });
    expect(rows.length).toBe(metadata.total_count);
    for (const order of ['revenue', 'connect_rate', undefined]) {
      const pages: Report['rows'] = [];
      for (let page = 1; page <= Math.ceil(rows.length / 90); page++) {
        const pageQuery = { ...query, order, order_dir: 'desc', page, per_page: 90 };
        const report = await ask(company, pageQuery);
        expect([report.totals, report.metadata.total_pages]).toEqual([
          totals,
          Math.ceil(rows.length / 90),
        ]);
        pages.push(...report.rows);
      }
      const ascending = (await ask(company, { ...query, order, per_page: 1000 })).rows;
      expect(pages).toEqual(ascending.toReversed());
      expect(new Set(pages.map((row) => listKeys(row).join())).size).toBe(rows.length);
      const figures = ascending.map((row) => row[(order ?? 'calls') as 'calls']);
      if (order) expect(figures).toEqual(figures.toSorted((a, b) => a - b));
    }
  });
});

describe('what rows are called', () => {
  let company: Company;
  let bayline: number, group: number, source: number;

  beforeAll(async () => {
    company = await world.addCompany();
    const make = bindCreate(company);
    bayline = await make('buyers', 'buyer', { name: '=Bayline' });
    group = await make('buyer_groups', 'buyer_group', { name: 'West', buyer_ids: [bayline] });
    source = await make('traffic_sources', 'traffic_source', { name: 'Search' });
    const { call } = createCallWriter(world, company);
    const createdAt = '2027-04-01T12:00:00Z';
    const ofBuyer = { buyer_id: bayline, connected_at: createdAt, buyer_converted: true };
    await call({
      created_at: createdAt,
      ended_at: createdAt,
      total_duration: 90,
      ...ofBuyer,
      buyer_group_id: group,
      revenue: 20.05,
      payout: 5,
      traffic_source_id: source,
      sub_id: '=1+1',
    });
    await call({ created_at: createdAt, ended_at: createdAt, total_duration: 30 });
    await call({ created_at: createdAt, total_duration: 30, deleted_at: createdAt });
  });

  test('records have their id and name', async () => {
    const { rows } = await ask(company, { group_by: 'buyer_group,buyer,traffic_source' });
    expect(rows.map(({ groups }) => groups)).toEqual([
      [
        { by: 'buyer_group', key: String(group), name: 'West' },
        { by: 'buyer', key: String(bayline), name: '=Bayline' },
        { by: 'traffic_source', key: String(source), name: 'Search' },
      ],
      [
        { by: 'buyer_group', key: null, name: null },
        { by: 'buyer', key: null, name: null },
        { by: 'traffic_source', key: null, name: null },
      ],
    ]);
  });

  test('CSV has a column for each key, and runs no formula', async () => {
    const query = { group_by: 'buyer,sub_id', order: 'calls', order_dir: 'desc', page: 2 };
    const csv = await company.api('get', 'calls/reports/grouped.csv', { query });
    expect(csv.headers['content-disposition']).toContain('grouped_call_report.csv');
    expect(csv.text.split('\n')).toEqual([
      'buyer,buyer_name,sub_id,calls,connects,conversions,traffic_source_conversions,' +
        'connect_rate,conversion_rate,revenue,payout,profit,epc,average_duration',
      ',,,1,0,0,0,0.0000,0,0.00,0.00,0.00,0.0000,30.0',
      `${bayline},'=Bayline,'=1+1,1,1,1,0,1.0000,1.0000,20.05,5.00,15.05,20.0500,90.0`,
      '',
    ]);
  });

  test('without root, without calls, and of another company', async () => {
    const path = 'calls/reports/grouped';
    const bare = await company.api('get', path, { query: { root: false } });
    expect(bare.body).toEqual((await ask(company, {})).rows);
    const otherCompany = await world.addCompany();
    expect(await ask(otherCompany, { group_by: 'hour,buyer' })).toMatchObject({
      rows: [],
      totals: { calls: 0, revenue: 0, profit: 0, epc: 0, connect_rate: 0, average_duration: 0 },
      metadata: { total_count: 0, total_pages: 0 },
    });
  });

  test.each([
    [{ group_by: 'shoe_size' }, 'group_by'],
    [{ group_by: 'day,day' }, 'group_by'],
    [{ group_by: 'day,buyer,offer,hour' }, 'group_by'],
    [{ group_by: 'token' }, 'token_key'],
    [{ group_by: 'day', token_key: 'campaign' }, 'token_key'],
    [{ order: 'luck' }, 'order'],
    [{ per_page: 1001 }, 'per_page'],
  ])('%p is rejected with the name of the parameter', async (query, field) => {
    const res = await company.api('get', 'calls/reports/grouped', { query });
    expect([res.status, Object.keys(res.body.errors)[0]!.split('.')[0]]).toEqual([422, field]);
  });

  test("a buyer's user sees the own calls, and nothing of their sources", async () => {
    const { call } = createCallWriter(world, company);
    const otherBuyer = await bindCreate(company)('buyers', 'buyer', { name: 'Rival' });
    const rival = { buyer_id: otherBuyer, buyer_converted: true, revenue: 77, payout: 3 };
    await call({ created_at: '2027-04-02T12:00:00Z', total_duration: 10, ...rival });
    const user = await createMember(company, 'buyer@example.com', {
      permissions: ['calls:read'],
      buyer_ids: [bayline],
    });
    const { rows, totals } = await ask(user, { group_by: 'buyer,buyer_group,day' });
    expect(rows.map(listKeys)).toEqual([[String(bayline), null, '2027-04-01']]);
    const hidden = { payout: null, profit: null, traffic_source_conversions: null };
    expect(totals).toMatchObject({ calls: 1, revenue: 20.05, epc: 20.05, ...hidden });
    await refused(user, [
      { group_by: 'day,traffic_source' },
      { group_by: 'sub_id' },
      { order: 'payout' },
      { order: 'profit' },
      { traffic_source_id: source },
    ]);
  });

  test("a publisher's user sees the own calls, and nothing of their buyers", async () => {
    const user = await createMember(company, 'source@example.com', {
      permissions: ['calls:read'],
      traffic_source_ids: [source],
    });
    const { rows, totals } = await ask(user, { group_by: 'traffic_source,sub_id' });
    expect(rows.map(listKeys)).toEqual([[String(source), '=1+1']]);
    const hidden = { revenue: null, profit: null, epc: null, conversions: null };
    expect(totals).toMatchObject({ calls: 1, payout: 5, conversion_rate: null, ...hidden });
    const csv = await user.api('get', 'calls/reports/grouped.csv', { query: { group_by: 'day' } });
    expect(csv.text.split('\n')[1]).toBe('2027-04-01,1,1,,0,1.0000,,,5.00,,,90.0');
    await refused(user, [
      { group_by: 'day,buyer' },
      { group_by: 'traffic_source,buyer_group' },
      { order: 'revenue' },
      { order: 'conversion_rate' },
      { buyer_id: bayline },
    ]);
  });

  test('the report of a source is that of its calls, and of no other source', async () => {
    const all = (query: object) => company.api('get', 'calls/reports/grouped', { query });
    const of = (id: number, query: object) =>
      company.api('get', `traffic_sources/${id}/report`, { query });
    const query = { group_by: 'day,buyer' };
    const ownReport = (await of(source, query)).body;
    expect(ownReport).toEqual((await all({ ...query, traffic_source_id: source })).body);
    expect(ownReport.totals.calls).toBeGreaterThan(0);
    const sourceFields = { name: 'Named', user_traffic_source_id: 'ads' };
    const otherSource = await bindCreate(company)(
      'traffic_sources',
      'traffic_source',
      sourceFields,
    );
    expect((await of(otherSource, query)).body.totals.calls).toBe(0);
    const user = await createMember(company, 'other-source@example.com', {
      permissions: ['calls:read'],
      traffic_source_ids: [otherSource],
    });
    const path = `traffic_sources/${source}/report`;
    expect((await user.api('get', path)).status).toBe(404);
  });

  async function refused({ api }: Pick<Company, 'api'>, queries: object[]): Promise<void> {
    for (const query of queries)
      for (const path of ['calls/reports/grouped', 'calls/reports/grouped.csv']) {
        const { status, body } = await api('get', path, { query });
        const [name] = Object.keys(query);
        expect([query, status, Object.keys(body.errors)]).toEqual([query, 422, [name]]);
      }
  }
});
