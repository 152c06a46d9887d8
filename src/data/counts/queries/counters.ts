import { sql, statement } from '../../sql';

export const MOVE_COUNT = statement(
  'db.move_count',
  sql`
    INSERT INTO record_counts (company_id, resource, slot, n)
    VALUES ({company_id}, {resource}, pg_backend_pid() % 64, {by})
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n
  `,
  { prepared: true },
);
