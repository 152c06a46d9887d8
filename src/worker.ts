import { loadConfig } from './config';
import { openInstallation } from './installation';
import { startEngine } from './jobs/engine';
import { startHoldSweeper } from './jobs/hold-sweeper';
import { startWorkers } from './jobs/queue';
import { createRunners } from './jobs/runners';
import { exitWith, onStop } from './process';

// A process that only runs jobs, beside servers that may be told to leave them to it (RUN_JOBS=false).

async function main(): Promise<void> {
  const installation = await openInstallation(loadConfig(), 'command');
  const { deps } = installation;
  const workers = await startWorkers({ database: deps.database, log: deps.log, runners: createRunners(deps) });
  const engine = startEngine(deps);
  const holds = startHoldSweeper(deps);
  onStop(deps, async () => {
    await Promise.all([workers.stop(), engine.stop(), holds.stop()]);
    await installation.close();
  });
  process.stdout.write('Trunkline runs jobs.\n');
}

main().catch(exitWith);
