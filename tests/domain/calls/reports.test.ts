import { createCallWriter, type CallFields } from '../../support/calls';
import { standingClock } from '../../support/clock';
import { bindCreate, pick, report, type ReportRow } from '../../support/reports';
import { createWorld, type Company, type World } from '../../support/world';

const NOW = '2027-01-12T17:00:00.000Z';
let world: World;
const time = standingClock(NOW);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());

const sum = (rows: ReportRow[], name: string) =>
  rows.reduce((all, row) => all + Number(row[name]), 0);

describe('reports of calls', () => {
  let company: Company;
  let acme: number, bayline: number, crest: number, auto: number, home: number, search: number;
  const on = (createdAt: string, seconds: number, fields: CallFields) => ({
    created_at: createdAt,
    ended_at: new Date(Date.parse(createdAt) + seconds * 1000),
    ...fields,
  });

  beforeAll(async () => {
    company = await world.addCompany();
    const make = bindCreate(company);
    [acme, bayline, crest] = [
      await make('buyers', 'buyer', { name: 'Acme' }),
      await make('buyers', 'buyer', { name: '=Bayline' }),
      await make('buyers', 'buyer', { name: 'Crest' }),
    ];
    [auto, home] = [
      await make('offers', 'offer', { name: 'Auto' }),
      await make('offers', 'offer', { name: 'Home' }),
    ];
    search = await make('traffic_sources', 'traffic_source', { name: 'Search' });
    const { call, attempt, decision } = createCallWriter(world, company);
    // Acme does not answer, Bayline takes it and pays.
    const sold = await call(
      on('2027-01-11T12:00:00Z', 100, {
        carrier: 'twilio',
        offer_id: auto,
        buyer_id: bayline,
        traffic_source_id: search,
        connected_at: '2027-01-11T12:00:20Z',
        buyer_converted: true,
        traffic_source_converted: true,
        revenue: 20,
        payout: 5,
      }),
    );
    await attempt(sold.id, acme);
    await attempt(sold.id, bayline, { status: 'completed' });
    await decision(sold.id, 1, [
      [acme, null],
      [bayline, null],
      [crest, 'closed'],
    ]);
    await decision(sold.id, 2, [
      [acme, 'declined'],
      [bayline, null],
      [crest, 'closed'],
    ]);
    // Acme takes it and does not pay.
    const cold = await call(
      on('2027-01-11T13:00:00Z', 51, {
        offer_id: home,
        buyer_id: acme,
        connected_at: '2027-01-11T13:00:30Z',
      }),
    );
    await attempt(cold.id, acme, { status: 'completed' });
    await decision(cold.id, 1, [
      [acme, null],
      [bayline, 'cap_reached'],
    ]);
    // No buyer is available.
    const lost = await call(on('2027-01-12T13:00:00Z', 0, { offer_id: auto }));
    await decision(lost.id, 1, [
      [acme, 'closed'],
      [bayline, 'closed'],
      [crest, 'paused'],
    ]);
    // In progress, without an offer.
    await call({ created_at: '2027-01-12T16:59:00Z', buyer_id: acme, status: 'in_progress' });
    const deletedCall = await call(
      on('2027-01-11T13:00:00Z', 51, {
        offer_id: home,
        buyer_id: acme,
        revenue: 99,
        deleted_at: NOW,
      }),
    );
    await attempt(deletedCall.id, acme);
  });

  test('by buyer: calls, attempts and reasons are in the row of their own buyer', async () => {
    const { rows, totals, metadata } = await report('calls', {}, company);
    const notCalled = { answered_by_person: 0, abandoned: 0, abandoned_rate: 0 };
    const nothing = {
      calls: 0,
      sandbox_calls: 0,
      attempts: 0,
      connects: 0,
      conversions: 0,
      traffic_source_conversions: 0,
      revenue: 0,
      payout: 0,
      profit: 0,
      epc: 0,
      average_duration: 0,
      unbilled_reasons: {},
      ...notCalled,
    };
    expect(rows).toEqual([
      {
        ...nothing,
        key: String(acme),
        name: 'Acme',
        calls: 2,
        sandbox_calls: 2,
        attempts: 2,
        connects: 1,
        average_duration: 55.5,
        skip_reasons: { declined: 1, closed: 1 },
      },
      {
        ...nothing,
        key: String(bayline),
        name: '=Bayline',
        calls: 1,
        attempts: 1,
        connects: 1,
        conversions: 1,
        traffic_source_conversions: 1,
        revenue: 20,
        payout: 5,
        profit: 15,
        epc: 20,
        average_duration: 100,
        skip_reasons: { cap_reached: 1, closed: 1 },
      },
      { ...nothing, key: String(crest), name: 'Crest', skip_reasons: { closed: 2, paused: 1 } },
      {
        ...{ ...nothing, key: null, name: null, calls: 1, sandbox_calls: 1 },
        ...{ skip_reasons: {}, unbilled_reasons: { not_connected: 1 } },
      },
    ]);
    expect(totals).toEqual({
      calls: 4,
      sandbox_calls: 3,
      attempts: 3,
      connects: 2,
      conversions: 1,
      traffic_source_conversions: 1,
      revenue: 20,
      payout: 5,
      profit: 15,
      epc: 5,
      average_duration: 52.8,
      ...notCalled,
      skip_reasons: { declined: 1, closed: 4, cap_reached: 1, paused: 1 },
      unbilled_reasons: { not_connected: 1 },
    });
    expect(metadata).toEqual({ root: 'rows', category: 'buyer', time_zone: 'UTC', total_count: 4 });
  });

  test('every category adds up to the same', async () => {
    const { totals } = await report('calls', {}, company);
    for (const category of ['buyer', 'offer', 'schedule', 'traffic_source', 'day', 'hour']) {
      const categoryReport = await report('calls', { category }, company);
      expect([category, categoryReport.totals]).toEqual([category, totals]);
      for (const name of [
        'calls',
        'attempts',
        'connects',
        'conversions',
        'traffic_source_conversions',
        'revenue',
        'payout',
        'profit',
      ])
        expect([category, name, sum(categoryReport.rows, name)]).toEqual([
          category,
          name,
          totals[name],
        ]);
      const reasons = categoryReport.rows
        .flatMap(({ skip_reasons }) => Object.values(skip_reasons as Record<string, number>))
        .reduce((all, n) => all + n, 0);
      expect([category, reasons]).toEqual([category, 7]);
    }
  });

  test('by offer and traffic source', async () => {
    const offers = await report('calls', { category: 'offer' }, company);
    expect(
      pick(offers.rows, 'key', 'name', 'calls', 'attempts', 'revenue', 'epc', 'skip_reasons'),
    ).toEqual([
      [String(auto), 'Auto', 2, 2, 20, 10, { closed: 4, declined: 1, paused: 1 }],
      [String(home), 'Home', 1, 1, 0, 0, { cap_reached: 1 }],
      [null, null, 1, 0, 0, 0, {}],
    ]);
    const sources = await report('calls', { category: 'traffic_source' }, company);
    expect(pick(sources.rows, 'key', 'name', 'calls', 'profit')).toEqual([
      [String(search), 'Search', 1, 15],
      [null, null, 3, 0],
    ]);
  });

  test('of a time, an offer, a traffic source', async () => {
    const calls = async (query: object) => (await report('calls', query, company)).totals.calls;
    expect(await calls({ created_at_from: '2027-01-12' })).toBe(2);
    expect(await calls({ created_at_to: '2027-01-11 07:30', time_zone: 'America/New_York' })).toBe(
      1,
    );
    expect(await calls({ offer_id: auto })).toBe(2);
    expect(await calls({ offer_id: home, traffic_source_id: search })).toBe(0);
    expect(await calls({ traffic_source_id: search })).toBe(1);
  });

  test('of one buyer: its calls, its attempts, and why it was passed over', async () => {
    const whole = (await report('calls', {}, company)).rows;
    const { uuid } = (await company.api('get', `buyers/${crest}`)).body.buyer;
    for (const [n, buyerId] of [acme, bayline, uuid].entries()) {
      const { rows, totals } = await report('calls', { buyer_id: buyerId }, company);
      expect(rows).toEqual([whole[n]]);
      expect({ key: rows[0]!.key, name: rows[0]!.name, ...totals }).toEqual(rows[0]);
    }
    const byOffer = await report('calls', { buyer_id: crest, category: 'offer' }, company);
    expect(pick(byOffer.rows, 'key', 'calls', 'skip_reasons')).toEqual([
      [String(auto), 0, { closed: 2, paused: 1 }],
    ]);
  });

  test('as CSV, and without root', async () => {
    const csv = await company.api('get', 'calls/reports.csv', {
      query: { category: 'buyer', created_at_to: '2027-01-11T12:30:00Z' },
    });
    expect(csv.headers['content-disposition']).toContain('call_report.csv');
    expect(csv.text.split('\n')).toEqual([
      'key,name,calls,attempts,connects,conversions,traffic_source_conversions,revenue,payout,' +
        'profit,epc,average_duration,skip_reasons,unbilled_reasons,answered_by_person,abandoned,' +
        'abandoned_rate,sandbox_calls',
      `${acme},Acme,0,1,0,0,0,0,0,0,0,0,"{""declined"": 1}",{},0,0,0,0`,
      `${bayline},'=Bayline,1,1,1,1,1,20.00,5.00,15.00,20.0000,100.0,{},{},0,0,0,0`,
      `${crest},Crest,0,0,0,0,0,0,0,0,0,0,"{""closed"": 2}",{},0,0,0,0`,
      '',
    ]);
    expect((await company.api('get', 'calls/reports', { query: { root: false } })).body).toEqual(
      (await report('calls', {}, company)).rows,
    );
    expect(
      (await company.api('get', 'calls/reports', { headers: { Accept: 'text/csv' } })).text,
    ).toContain('Crest');
  });

  test('incoming and outgoing calls apart, with the attempts of each', async () => {
    const other = await world.addCompany();
    const make = bindCreate(other);
    const [buyer, second] = [
      await make('buyers', 'buyer', { name: 'Acme' }),
      await make('buyers', 'buyer', { name: 'Bayline' }),
    ];
    const { call, attempt } = createCallWriter(world, other);
    const at = '2027-01-11T12:00:00Z';
    const sold = await call(on(at, 30, { buyer_id: buyer, connected_at: at }));
    const unheard = await call(on(at, 10, { direction: 'outbound', routed: true }));
    await attempt(sold.id, buyer);
    for (const id of [buyer, second]) await attempt(unheard.id, id);
    const figures = async (query: object) =>
      pick([(await report('calls', query, other)).totals], 'calls', 'connects', 'attempts')[0];
    expect(await figures({})).toEqual([2, 1, 3]);
    expect(await figures({ call_category: 'inbound' })).toEqual([1, 1, 1]);
    expect(await figures({ call_category: 'outbound' })).toEqual([1, 0, 2]);
  });

  test('another company has none', async () => {
    const otherCompany = await world.addCompany();
    expect(await report('calls', { category: 'day' }, otherCompany)).toMatchObject({
      rows: [],
      totals: { calls: 0, revenue: 0, epc: 0, average_duration: 0, skip_reasons: {} },
      metadata: { total_count: 0 },
    });
    const query = { buyer_id: acme };
    expect((await otherCompany.api('get', 'calls/reports', { query })).status).toBe(422);
  });

  test.each([
    [{ category: 'shoe_size' }, 'category'],
    [{ time_zone: 'Mars' }, 'time_zone'],
    [{ created_at_from: 'soon' }, 'created_at_from'],
    [{ buyer_id: 'x' }, 'buyer_id'],
  ])('%p is rejected with the name of the parameter', async (query, field) => {
    const res = await company.api('get', 'calls/reports', { query });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
  });
});
