import { identify, type Reference } from '../../data/references';
import type { Db } from '../../data/db';
import { buildReferenceProblem } from '../../data/records';
import { FIND_TRAFFIC_SOURCE } from './queries/traffic-sources';

/** Finds a traffic source by its id, its uuid or its user_traffic_source_id. */
export async function findTrafficSource(
  { sql }: Pick<Db, 'sql'>,
  name: Reference,
): Promise<bigint> {
  const identifier = identify(name);
  const [source] = await sql(FIND_TRAFFIC_SOURCE, {
    name: String(name),
    id: identifier?.key === 'id' ? identifier.value : null,
    uuid: identifier?.key === 'uuid' ? identifier.value : null,
  });
  if (!source) throw buildReferenceProblem('traffic_source_id', [String(name)]);
  return BigInt(source.id);
}
