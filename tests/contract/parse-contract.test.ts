import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { CONTRACT_FILE } from '../../src/platform/contract/contract';
import { parseContract } from '../../src/platform/contract/parse-contract';

test('a text that was changed since the build is parsed', () => {
  const text = readFileSync(CONTRACT_FILE, 'utf8');
  expect(parseContract(text)).toEqual(load(text));
  expect(parseContract(`${text}x-new: 1\n`)).toMatchObject({ 'x-new': 1 });
});
