import { identify, type Reference } from '../db/references';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';

/** Returns the id of a traffic source named by its id, its uuid or its user_traffic_source_id. */
export async function findTrafficSource(db: Db, name: Reference): Promise<bigint> {
  const named = identify(name);
  const rows = await db.query<{ id: bigint | string }>({
    text: `SELECT id FROM traffic_sources WHERE company_id = $1 AND deleted_at IS NULL AND (user_traffic_source_id = $2 ${named ? `OR ${named.key} = $3::${named.key === 'id' ? 'bigint' : 'uuid'}` : ''})
      ORDER BY user_traffic_source_id = $2 DESC NULLS LAST LIMIT 1`,
    values: [db.company_id, String(name), ...(named ? [named.value] : [])],
  });
  if (!rows[0])
    throw HttpProblem.field('traffic_source_id', `names no record of yours: ${String(name)}`);
  return BigInt(rows[0].id);
}
