import { readFileSync } from 'node:fs';
import { FILE, source } from '../../scripts/generate-cap-counters';

test('the committed statements are those that npm run generate:caps makes', () => {
  expect(readFileSync(FILE, 'utf8')).toBe(source);
});
