import { sql, statement } from '../../../data/sql';

export const LIST_TIME_ZONES = statement(
  'http.list_time_zones',
  sql`
    SELECT name AS iana_name, extract(epoch FROM utc_offset)::int AS seconds, is_dst AS dst
    FROM pg_timezone_names
  `,
  { prepared: false },
).returning<{ iana_name: string; dst: boolean }>();
