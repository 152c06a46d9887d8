import { COMPLETE_EVENTS } from './queries/events';
import type { Sql } from './sql';
import type { BeforeCommit } from './before-commit';
import type { Statements } from './db';

// A statement that writes calls records their events with the rows as they are then. Later writes
// of the same transaction belong to these events too, so they are completed at its end.

export async function completeEvents(
  sql: Sql,
  companyIds: readonly (string | bigint)[],
): Promise<void> {
  if (companyIds.length > 0)
    await sql(COMPLETE_EVENTS, { company_ids: [...new Set(companyIds.map(String))] });
}

/**
 * Returns the statements of a transaction; if one records events, they are completed before the
 * commit.
 */
export function withEventCompletion<Tenant extends Statements>(
  db: Tenant,
  before: BeforeCommit,
): Tenant {
  const { company_id, sql } = db;
  const complete = async () => {
    await sql(COMPLETE_EVENTS, { company_ids: [company_id] });
  };
  return {
    ...db,
    sql: (statement, params) => {
      if (statement.options.records) before.add('webhook events', complete);
      return sql(statement, params);
    },
  };
}
