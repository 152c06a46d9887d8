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

export async function benchReports(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareCalls(server, { name: 'bench_reports', days: 365 });
  await query(world.url, 'VACUUM ANALYZE calls');
  const month = `time_zone=America/New_York&created_at_from=${FROM}&created_at_to=${TO}`;
  const groups = option('groups', '') || ALL.join(';');
  await measureLists(world, {
    port: PORT,
    resource: 'calls/reports/grouped',
    searches: groups.split(';').map((groupBy) => `group_by=${groupBy}&${month}`),
    connections: 1,
  });
}
