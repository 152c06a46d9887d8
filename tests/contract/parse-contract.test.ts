import { readFileSync } from 'node:fs';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { completeDocument, contract, CONTRACT_FILE } from '../../src/platform/contract/contract';
import { parseContract } from '../../src/platform/contract/parse-contract';
import { formatContract } from '../../src/platform/contract/published-contract';

test('a text that was changed since the build is parsed', () => {
  const text = readFileSync(CONTRACT_FILE, 'utf8');
  expect(parseContract(text)).toEqual(contract.document);
  expect(parseContract(`${text}x-new: 1\n`)).toMatchObject({ 'x-new': 1 });
});

// Generators in Python, Java and Ruby read YAML 1.1: a time without quotes is no text there.
test('the published contract is all of it, and reads the same as YAML 1.1', () => {
  const text = formatContract(contract.document);
  expect(load(text)).toEqual(completeDocument());
  expect(load(text, { schema: YAML11_SCHEMA })).toEqual(completeDocument());
});

// An older contract names every answer itself.
test('the published contract stays as it is when it is made complete again', () => {
  const text = formatContract(contract.document);
  const again = formatContract(parseContract(text));
  expect(load(again)).toEqual(load(text));
});

test('no operation leaves open which errors it has', () => {
  for (const { id, responses } of contract.operations)
    expect([id, Object.keys(responses)]).toEqual([
      id,
      expect.arrayContaining(['401', '422', '429', '500', '503']),
    ]);
  expect(contract.operations.flatMap(({ responses }) => Object.keys(responses))).not.toContain(
    'default',
  );
});
