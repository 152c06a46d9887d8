import { writeFileSync } from 'node:fs';
import { samplesSource } from './samples';

// Writes src/generated/samples.ts: the code samples of every operation. `npm run check` fails when
// the file is out of date.

void samplesSource().then((source) => writeFileSync('src/generated/samples.ts', source));
