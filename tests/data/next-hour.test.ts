import { Client } from 'pg';
import { freshDatabase } from '../support/world';

// next_hour() is immutable, which date_trunc() with a time zone is not; both mean the same.

let client: Client;
beforeAll(async () => {
  client = new Client({ connectionString: await freshDatabase() });
  await client.connect();
});
afterAll(() => client.end());

const ZONES = [
  'UTC',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Europe/London',
  'Pacific/Apia',
];

test('the next hour is that of the clock, also where it is set forward or back', async () => {
  const { rows } = await client.query<{ compared: number; wrong: unknown[] | null }>(
    `SELECT count(*)::int AS compared,
      json_agg(json_build_array(zone, at)) FILTER (
        WHERE next_hour(at, zone) <> date_trunc('hour', at, zone) + interval '1 hour'
      ) AS wrong
    FROM unnest($1::text[]) zone,
      generate_series('2026-01-01'::timestamptz, '2027-01-01', '7 minutes 13.5 seconds') at`,
    [ZONES],
  );
  expect(rows).toEqual([{ compared: expect.any(Number), wrong: null }]);
  expect(rows[0]!.compared).toBeGreaterThan(500_000);
});

test('PostgreSQL puts its expression in the place of a call', async () => {
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (VERBOSE, COSTS OFF)
    SELECT next_hour(l.totals_reset_at, l.zone) FROM call_limits l`,
  );
  expect(rows.map((row) => row['QUERY PLAN']).join()).not.toContain('next_hour');
});
