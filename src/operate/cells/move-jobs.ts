import { sqlOn } from '../../data/sql';
import { TIMING } from '../../data/jobs/queue';
import { buildNodeUrl, type Node } from './address';
import { runOnNode } from './on-node';
import { ADD_JOBS, DELETE_JOBS, HAS_JOBS, LIST_JOBS, RESTART_JOBS } from './queries/move-jobs';

// Jobs are in the queue of their company's node, because they are added in the transaction that
// causes them.

/** The queue that has the jobs, and the cell of their companies. */
interface JobRoute {
  from: Node;
  node: Node;
  schema: string;
}

/**
 * Copies the jobs of companies to the queue of their node. Returns the ids of those from another
 * node.
 */
export async function copyJobs(
  coordinator: string,
  { from, node, schema }: JobRoute,
  companies: readonly string[],
): Promise<string[]> {
  if (from.groupid === node.groupid) return [];
  const jobs = await runOnNode(buildNodeUrl(coordinator, from), schema, async (client) => {
    const [queue] = await sqlOn(client)(HAS_JOBS, {});
    return queue!.has_jobs ? sqlOn(client)(LIST_JOBS, { companies: [...companies] }) : [];
  });
  if (jobs.length > 0) {
    const added = JSON.stringify(jobs.map(({ job }) => job));
    await runOnNode(buildNodeUrl(coordinator, node), schema, (client) =>
      sqlOn(client)(ADD_JOBS, { jobs: added, seconds: TIMING.expire_seconds }),
    );
  }
  return jobs.map(({ id }) => id);
}

/**
 * Moves the jobs of companies from the queues of other nodes to that of their node. A running job
 * is run once more: it may have ended with writes to rows that had already been copied.
 */
export async function moveJobs(
  coordinator: string,
  { nodes, ...cell }: { nodes: readonly Node[]; node: Node; schema: string },
  companies: readonly string[],
): Promise<void> {
  for (const from of nodes) {
    const ids = await copyJobs(coordinator, { from, ...cell }, companies);
    if (ids.length > 0)
      await runOnNode(buildNodeUrl(coordinator, from), cell.schema, (client) =>
        sqlOn(client)(DELETE_JOBS, { ids }),
      );
  }
}

/** Ends the runs of a company's jobs on its node, so that the jobs start again later. */
export const restartJobs = (
  coordinator: string,
  { node, schema }: { node: Node; schema: string },
  companyId: string,
): Promise<unknown> =>
  runOnNode(buildNodeUrl(coordinator, node), schema, (client) =>
    sqlOn(client)(RESTART_JOBS, { company_id: companyId, seconds: TIMING.expire_seconds }),
  );
