import type { World } from './world';

/** Counts a change of routing data that a test writes past the service. */
export const countRoutingChange = ({ sql, company }: Pick<World, 'sql' | 'company'>) =>
  sql(
    `INSERT INTO routing_changes (company_id, slot, n) VALUES ($1, 0, 1)
      ON CONFLICT (company_id, slot) DO UPDATE SET n = routing_changes.n + 1`,
    [company.id],
  );
