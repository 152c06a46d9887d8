import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { contract } from '../../../src/platform/contract/contract';
import { SAMPLES } from '../../../src/generated/samples';
import { run } from '../../support/sample-runs';
import { buildApp, createWorld, type World } from '../../support/world';

// The code samples of the contract are what a reader can paste and run.

const ROOT = join(__dirname, '../../..');
const samples = Object.entries(SAMPLES).flatMap(([id, list]) =>
  list.map(({ label, source }, at) => ({ name: `${id}_${at}`, label, source })),
);
const selectSamples = (language: string) =>
  samples.filter(({ label }) => label.startsWith(language));

test('every operation has samples for curl, TypeScript and Python, but for those of carriers', () => {
  const shown = contract.operations.filter(
    ({ credentials }) => credentials !== 'carrier_signature',
  );
  expect(Object.keys(SAMPLES).sort()).toEqual(shown.map(({ id }) => id).sort());
  for (const list of Object.values(SAMPLES))
    expect(list.slice(0, 3).map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'Python']);
});

test('samples of TypeScript type-check against the types of the contract', () => {
  const folder = join(process.env.TRUNKLINE_TEST_FOLDER!, 'samples');
  mkdirSync(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(ROOT, 'src/generated/openapi.ts'), join(folder, 'trunkline.ts'));
  for (const { name, source } of selectSamples('TypeScript'))
    writeFileSync(join(folder, `${name}.ts`), source);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom'],
    types: ['node'],
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const { status, stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

const PARSE = `
import json, sys
for sample in json.load(sys.stdin):
    compile(sample["source"], sample["name"], "exec")
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) process.stdout.write('\nSKIPPED: samples of Python need python3 on the PATH\n');

(hasPython ? test : test.skip)('samples of Python parse', () => {
  const input = JSON.stringify(selectSamples('Python'));
  const { status, stderr } = spawnSync('python3', ['-c', PARSE], { input, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('samples of curl parse', () => {
  const { status, stderr } = spawnSync('bash', ['-n'], {
    input: selectSamples('curl')
      .map(({ source }) => source)
      .join('\n'),
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('samples that are run', () => {
  let world: World;
  let server: Server;
  let values: Record<string, string>;

  beforeAll(async () => {
    world = await createWorld();
    await world.work();
    server = buildApp(world.deps).listen(0);
    const { port } = server.address() as { port: number };
    const offer = await world.company.api('post', 'offers', { body: { name: 'Auto' } });
    values = {
      'http://127.0.0.1:3000': `http://127.0.0.1:${port}`,
      'public_key:private_key': world.company.auth,
      LEAD_TOKEN: offer.body.offer.lead_token,
    };
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await world.close();
  });

  // In an order in which each finds the records that it names by id 1.
  test.each<[id: string, label: string, status: number]>([
    ['showMe', 'curl', 200],
    ['createBuyer', 'curl', 201],
    ['listBuyers', 'curl', 200],
    ['updateBuyer', 'curl', 200],
    ['showBuyerByUserBuyerId', 'curl', 200],
    ['createOffer', 'curl', 201],
    ['createBuyerSuppression', 'curl', 201],
    ['createBuyerSuppressionFile', 'curl', 201],
    ['submitLead', 'curl', 201],
    ['showLeadByCallerNumber', 'curl', 200],
    ['optOutLead', 'curl', 200],
    ['showCollection', 'curl', 200],
    ['deleteBuyer', 'curl', 200],
    ['createBuyerFleet', 'TypeScript', 201],
    ['listOffers', 'TypeScript', 200],
  ])('%s by %s', async (id, label, status) => {
    const { source } = SAMPLES[id]!.find((sample) => sample.label === label)!;
    const answer = await run(label, source, values);
    expect({ answer, status: JSON.parse(answer).status }).toEqual({ answer, status });
  });
});
