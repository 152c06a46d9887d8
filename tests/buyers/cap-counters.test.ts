import { readFileSync } from 'node:fs';
import { sources } from '../../scripts/generate-cap-counters';

test.each(Object.entries(sources))(
  '%s is committed as npm run generate:caps makes it',
  (file, source) => {
    expect(readFileSync(file, 'utf8')).toBe(source);
  },
);
