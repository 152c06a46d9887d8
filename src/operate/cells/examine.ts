import { HostsClient } from '../../data/postgres/hosts-client';
import { sqlOn, type Sql } from '../../data/sql';
import { withClient } from '../../data/postgres/with-client';
import { buildNodeUrl } from './address';
import { CELL_STATES } from './directory';
import { isDistributed } from './is-distributed';
import { runOnNode } from './on-node';
import { LIST_PLACES } from './queries/open';
import { IS_LOCKED } from './queries/lock';

export interface ExaminedCells {
  /** Number of cells; 0 if the database is not distributed. */
  cells: number;
  /** Each fault is a sentence. */
  faults: string[];
}

/** Looks for unusable cells, and runs `look` in each of the others. */
export async function examineCells(
  coordinator: string,
  look: (sql: Sql) => Promise<void>,
): Promise<ExaminedCells> {
  const client = new HostsClient({ connectionString: coordinator });
  return withClient(client, async () => {
    const sql = sqlOn(client);
    if (!(await isDistributed(sql))) return { cells: 0, faults: [] };
    const locations = await sql(LIST_PLACES, {});
    const [lock] = await sql(IS_LOCKED, {});
    const faults = [];
    for (const { id, schema, state, host, port, groupid } of locations) {
      if (!lock!.is_locked) faults.push(...listStateFaults(id, state));
      if (host === null || port === null || groupid === null) {
        faults.push(`Cell ${id} has no tables.`);
        continue;
      }
      await runOnNode(buildNodeUrl(coordinator, { groupid, host, port }), schema, (node) =>
        look(sqlOn(node)),
      ).catch((error: Error) => faults.push(`Cell ${id} on ${host}:${port}: ${error.message}`));
    }
    return { cells: locations.length, faults };
  });
}

/** Such a state lasts only while a command changes the cells. Without one, the command has died. */
function listStateFaults(id: number, state: string): string[] {
  if (state === CELL_STATES.filling || state === CELL_STATES.filled)
    return [
      `Cell ${id} is not complete: go on with npx trunkline distribute --apply, or undo it with ` +
        '--cancel. If others are in use, any change of cells removes it.',
    ];
  if (state === CELL_STATES.moving)
    return [`Cell ${id} was being moved when the command ended: a start of a server settles it.`];
  return [];
}
