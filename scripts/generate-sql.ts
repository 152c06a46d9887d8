import { writeFileSync } from 'node:fs';
import { describeStatements } from './sql-types';

// Writes src/generated/sql.ts: the types of every statement of src/*/queries/, as PostgreSQL
// describes them on a migrated database. `npm run check` fails when the file is out of date.

void describeStatements().then(({ source, errors }) => {
  for (const error of errors) process.stderr.write(`${error}\n`);
  if (errors.length === 0) writeFileSync('src/generated/sql.ts', source);
  process.exit(errors.length === 0 ? 0 : 1);
});
