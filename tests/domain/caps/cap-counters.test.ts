import { readFileSync } from 'node:fs';
import { FILES } from '../../../scripts/generate-cap-counters';

test.each(Object.entries(FILES))(
  '%s has the statements that npm run generate:caps makes',
  (path, text) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  },
);
