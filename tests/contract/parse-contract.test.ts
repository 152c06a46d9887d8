import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { CONTRACT_FILE } from '../../src/platform/contract/contract';
import { parseContract } from '../../src/platform/contract/parse-contract';
import { buildProduct } from '../support/build';

// The document that is parsed at the build is that of openapi.yaml, and of no other text.

const text = readFileSync(CONTRACT_FILE, 'utf8');

test('the document of the build is that of the text', async () => {
  const dist = join(await buildProduct(), 'dist');
  const builtContract = JSON.parse(readFileSync(join(dist, 'contract.json'), 'utf8'));
  expect(builtContract.document).toEqual(load(text));
  const script = `
    const { parseContract } = require('${dist}/platform/contract/parse-contract.js');
    process.stdout.write(JSON.stringify(parseContract('openapi: 3.1.0')));`;
  expect(execFileSync('node', ['-e', script]).toString()).toBe('{"openapi":"3.1.0"}');
});

test('a text that was changed since is parsed', () => {
  expect(parseContract(text)).toEqual(load(text));
  expect(parseContract(`${text}x-new: 1\n`)).toMatchObject({ 'x-new': 1 });
});
