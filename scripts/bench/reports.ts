import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { prepareCalls } from './calls';
import { measureLists } from './lists';
import { option } from './tools';
import { query } from './world';

// Reports on one month, about 425,000 calls, of a year of five million calls, grouped by one to
// three columns, one report after the other.

const PORT = '4114';
const [FROM, TO] = [-40, -9].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
const ALL = [
  'day',
  'buyer',
  'traffic_source,day',
  'buyer,traffic_source,day',
  'number,hour_of_day',
  'sub_id,state',
  'offer,day_of_week,hour_of_day',
  'hour',
  'buyer_group',
  'token&token_key=state',
];

/** Attempts of the reported calls: the dialed buyers and their groups. */
const INSERT_ATTEMPTS = `
  INSERT INTO call_attempts (company_id, uuid, created_at, call_id, round, buyer_id,
    buyer_group_id, connect_to, status, timeout_seconds, press_one_to_accept, dial)
  SELECT c.company_id, uuidv7(), c.created_at, c.id, 1, c.buyer_id, m.buyer_group_id, c.connect_to,
    'completed', 20, false, '{}'
  FROM calls c
  JOIN buyer_group_members m ON m.company_id = c.company_id AND m.buyer_id = c.buyer_id
  WHERE c.company_id = $1 AND c.created_at > now() - interval '50 days'
    AND NOT EXISTS (SELECT FROM call_attempts)`;

export async function benchReports(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareCalls(server, { name: 'bench_reports', days: 365 });
  await query(world.url, INSERT_ATTEMPTS, [world.company_id]);
  await query(world.url, 'VACUUM ANALYZE calls, call_attempts');
  const month = `time_zone=America/New_York&created_at_from=${FROM}&created_at_to=${TO}`;
  const groups = option('groups', '') || ALL.join(';');
  await measureLists(world, {
    port: PORT,
    resource: 'calls/reports/grouped',
    searches: groups.split(';').map((groupBy) => `group_by=${groupBy}&${month}`),
    connections: 1,
  });
}
