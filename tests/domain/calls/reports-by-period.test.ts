import { createCallWriter } from '../../support/calls';
import { standingClock } from '../../support/clock';
import { pick, report } from '../../support/reports';
import { createWorld, type Company, type World } from '../../support/world';

const NOW = '2027-01-12T17:00:00.000Z';
let world: World;
const time = standingClock(NOW);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());

describe('reports by local day and hour', () => {
  let company: Company;
  beforeAll(async () => {
    company = await world.addCompany();
    const { call } = createCallWriter(world, company);
    // Clocks in New York go back from 02:00 to 01:00 at 06:00Z of November 1, 2026, and forward
    // from 02:00 to 03:00 at 07:00Z of March 14, 2027.
    for (const createdAt of [
      '2026-11-01T03:59:59Z',
      '2026-11-01T04:00:00Z',
      '2026-11-01T05:30:00Z',
      '2026-11-01T06:30:00Z',
      '2026-11-02T04:59:59Z',
      '2026-11-02T05:00:00Z',
      '2027-03-14T06:59:59Z',
      '2027-03-14T07:00:00Z',
      '2027-03-15T03:59:59Z',
      '2027-03-15T04:00:00Z',
    ])
      await call({ created_at: createdAt, ended_at: createdAt });
  });
  const counts = async (query: object) =>
    pick((await report('calls', query, company)).rows, 'key', 'calls');

  test('across changes of the clocks', async () => {
    const timeZone = 'America/New_York';
    expect(await counts({ category: 'day', time_zone: timeZone })).toEqual([
      ['2026-10-31', 1],
      ['2026-11-01', 4],
      ['2026-11-02', 1],
      ['2027-03-14', 3],
      ['2027-03-15', 1],
    ]);
    expect(
      await counts({
        category: 'hour',
        time_zone: timeZone,
        created_at_from: '2026-11-01',
        created_at_to: '2026-11-01 23:00',
      }),
    ).toEqual([
      ['2026-11-01T00:00:00.000-04:00', 1],
      ['2026-11-01T01:00:00.000-04:00', 1],
      ['2026-11-01T01:00:00.000-05:00', 1],
    ]);
    expect(
      await counts({
        category: 'hour',
        time_zone: 'Eastern Time (US & Canada)',
        created_at_from: '2027-03-14',
        created_at_to: '2027-03-14 12:00',
      }),
    ).toEqual([
      ['2027-03-14T01:00:00.000-05:00', 1],
      ['2027-03-14T03:00:00.000-04:00', 1],
    ]);
  });

  test('in zones half an hour off, and in UTC by default', async () => {
    expect(
      (
        await counts({
          category: 'hour',
          time_zone: 'Asia/Kolkata',
          created_at_to: '2026-11-01T04:00:00Z',
        })
      ).map(([key]) => key),
    ).toEqual(['2026-11-01T09:00:00.000+05:30']);
    expect(await counts({ category: 'day', created_at_to: '2026-11-01' })).toEqual([
      ['2026-11-01', 4],
    ]);
    const csv = await company.api('get', 'calls/reports', {
      query: {
        category: 'day',
        format: 'csv',
        time_zone: 'Asia/Tokyo',
        created_at_to: '2026-11-01T04:00:00Z',
      },
    });
    expect(csv.text.split('\n')[1]).toMatch(/^2026-11-01,,2,/);
  });
});
