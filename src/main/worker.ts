import { exitWith } from './background/process';
import { runWorker } from './run-worker';

// The program that only runs background jobs.

runWorker().catch(exitWith);
