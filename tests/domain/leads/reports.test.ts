import { createCallWriter } from '../../support/calls';
import { bindCreate, pick, report } from '../../support/reports';
import type { Company } from '../../support/world';
import { useWorld } from '../../support/use-world';

const NOW = '2027-01-12T17:00:00.000Z';
const world = useWorld({ clock: NOW });

describe('reports of leads', () => {
  let company: Company;
  let auto: number, home: number, schedule: number, search: number, acme: number;
  beforeAll(async () => {
    company = await world.addCompany();
    const make = bindCreate(company);
    [auto, home] = [
      await make('offers', 'offer', { name: 'Auto' }),
      await make('offers', 'offer', { name: 'Home' }),
    ];
    schedule = await make('schedules', 'schedule', { name: 'Follow up', offer_id: auto });
    search = await make('traffic_sources', 'traffic_source', { name: 'Search' });
    acme = await make('buyers', 'buyer', { name: 'Acme' });
    const lead = (n: number, fields: object) =>
      make('leads/capture', 'lead', { caller_id: `+1310555012${n}`, ...fields });
    const leads = [
      await lead(1, { offer_id: auto, traffic_source_id: search }),
      await lead(2, { schedule_id: schedule }),
      await lead(3, { offer_id: home }),
      await lead(4, { offer_id: home }),
    ];
    const { id: call } = await createCallWriter(world, company).call({ lead_id: leads[0] });
    await world.sql(
      `UPDATE leads SET contact_attempts = 2, connected_call_id = $2, ` +
        `buyer_converted = true, revenue = 12.5, payout = 2.25, buyer_id = $3, ` +
        `is_live = false, status = 'completed_converted' WHERE id = $1`,
      [leads[0], call, acme],
    );
    await world.sql(`UPDATE leads SET contact_attempts = 1 WHERE id = $1`, [leads[2]]);
    await world.sql(
      `INSERT INTO contacts (company_id, uuid, caller_number, opt_out) VALUES ` +
        `($1, gen_random_uuid(), 13105550123, true)`,
      [company.id],
    );
    await company.api('delete', `leads/${leads[3]}/id`);
  });

  test('by offer, schedule, traffic source and status', async () => {
    const { rows, totals, metadata } = await report('leads', {}, company);
    expect(rows).toEqual([
      {
        key: String(auto),
        name: 'Auto',
        leads: 2,
        live: 1,
        contacted: 1,
        connected: 1,
        converted: 1,
        opted_out: 0,
        revenue: 12.5,
        payout: 2.25,
        profit: 10.25,
      },
      {
        key: String(home),
        name: 'Home',
        leads: 1,
        live: 1,
        contacted: 1,
        connected: 0,
        converted: 0,
        opted_out: 1,
        revenue: 0,
        payout: 0,
        profit: 0,
      },
    ]);
    expect(totals).toEqual({
      leads: 3,
      live: 2,
      contacted: 2,
      connected: 1,
      converted: 1,
      opted_out: 1,
      revenue: 12.5,
      payout: 2.25,
      profit: 10.25,
    });
    expect(metadata).toEqual({ root: 'rows', category: 'offer', time_zone: 'UTC', total_count: 2 });
    const by = async (category: string) =>
      pick((await report('leads', { category }, company)).rows, 'key', 'name', 'leads');
    expect(await by('schedule')).toEqual([
      [String(schedule), 'Follow up', 1],
      [null, null, 2],
    ]);
    expect(await by('traffic_source')).toEqual([
      [String(search), 'Search', 1],
      [null, null, 2],
    ]);
    expect(await by('status')).toEqual(
      expect.arrayContaining([
        ['completed_converted', 'Completed, converted', 1],
        ['queue', 'Waiting for a call', 1],
      ]),
    );
    expect(await by('day')).toEqual([['2027-01-12', null, 3]]);
    expect(await by('hour')).toEqual([['2027-01-12T17:00:00.000+00:00', null, 3]]);
    for (const category of ['offer', 'schedule', 'traffic_source', 'status', 'day', 'hour'])
      expect([category, (await report('leads', { category }, company)).totals]).toEqual([
        category,
        totals,
      ]);
  });

  test('narrowed, in a zone, as CSV', async () => {
    const leads = async (query: object) => (await report('leads', query, company)).totals.leads;
    expect([
      await leads({ offer_id: home }),
      await leads({ buyer_id: acme }),
      await leads({ traffic_source_id: search }),
      await leads({ created_at_to: '2027-01-01' }),
    ]).toEqual([1, 1, 1, 0]);
    expect(
      pick(
        (await report('leads', { category: 'hour', time_zone: 'America/Los_Angeles' }, company))
          .rows,
        'key',
      ),
    ).toEqual([['2027-01-12T09:00:00.000-08:00']]);
    const csv = await company.api('get', 'leads/reports.csv', { query: { buyer_id: acme } });
    expect(csv.text).toBe(
      `key,name,leads,live,contacted,connected,converted,opted_out,revenue,` +
        `payout,profit\n${auto},Auto,1,0,1,1,1,0,12.50,2.25,10.25\n`,
    );
    expect((await report('leads', {}, await world.addCompany())).rows).toEqual([]);
  });
});
