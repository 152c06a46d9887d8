import type { Deps } from '../deps';
import { startEngine } from './outreach-loop';
import type { Running } from '../jobs/loop';
import { startWorkers } from '../jobs/queue';
import { createRunners } from './runners';
import { startWatch } from './housekeeping-loop';
import { startWebhooks } from './webhook-loops';

/** Everything that is done without being asked for: queued jobs, the schedules of leads, what calls that have died hold, and webhooks. */
export async function startJobs(deps: Deps): Promise<Running> {
  const { database, log } = deps;
  const workers = await startWorkers({ database, log, runners: createRunners(deps) });
  const all: Running[] = [workers, startEngine(deps), startWatch(deps), startWebhooks(deps)];
  return { stop: async () => void (await Promise.all(all.map((each) => each.stop()))) };
}
