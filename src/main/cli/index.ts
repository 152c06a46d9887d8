#!/usr/bin/env node
import { runCommandLine } from './run';

// Ends at once: Prisma's schema engine leaves a timer that would keep the process for 10 seconds.
void runCommandLine(process.argv.slice(2)).then((code) => process.exit(code));
