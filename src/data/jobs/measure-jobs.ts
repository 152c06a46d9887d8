import type { Sql } from '../sql';
import { MEASURE_JOBS } from './queries/job';
import { TASK_NAMES, type TaskName } from './tasks';

export interface Backlog {
  /** Jobs that could run now. */
  waiting: number;
  running: number;
  /** The due time of the oldest waiting job; null without any. */
  oldest: Date | null;
}

export async function measureJobs(sql: Sql): Promise<Map<TaskName, Backlog>> {
  const backlogs = new Map<TaskName, Backlog>(
    TASK_NAMES.map((name) => [name, { waiting: 0, running: 0, oldest: null }]),
  );
  for (const { name, waiting, running, oldest } of await sql(MEASURE_JOBS, {})) {
    const backlog = backlogs.get(name as TaskName);
    if (!backlog) continue;
    backlog.waiting += waiting;
    backlog.running += running;
    backlog.oldest ??= oldest;
  }
  return backlogs;
}
