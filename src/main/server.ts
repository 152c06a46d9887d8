import { exitWith } from './background/process';
import { runServer } from './run-server';

// The program of the server.

runServer().catch(exitWith);
