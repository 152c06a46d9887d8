import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { contract, CONTRACT_FILE } from '../../../src/platform/contract/contract';
import { formatContract } from '../../../src/platform/contract/published-contract';
import { builtProduct } from '../../support/build';

test('the document that is parsed at the build is that of openapi.yaml, and of no other text', () => {
  const dist = join(builtProduct(), 'dist');
  const builtContract = JSON.parse(readFileSync(join(dist, 'contract.json'), 'utf8'));
  expect(builtContract.document).toEqual(load(readFileSync(CONTRACT_FILE, 'utf8')));
  expect(readFileSync(join(dist, 'openapi.yaml'), 'utf8')).toBe(formatContract(contract.document));
  const script = `
    const { parseContract } = require('${dist}/platform/contract/parse-contract.js');
    process.stdout.write(JSON.stringify(parseContract('openapi: 3.1.0')));`;
  expect(execFileSync('node', ['-e', script]).toString()).toBe('{"openapi":"3.1.0"}');
});
