import { writeFileSync } from 'node:fs';
import { schemaSource } from './schema-tables';

// Writes src/generated/schema.ts: the tables of prisma/schema.prisma with their marks. `npm run
// check` fails when the file is out of date.

writeFileSync('src/generated/schema.ts', schemaSource());
