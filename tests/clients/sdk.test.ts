import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startOutreach } from '../../src/main/background/start';
import type { Running } from '../../src/data/jobs/loop';
import { ownNumber } from '../support/leads';
import { clientsBin } from './matrix/generators';
import { buildApp, createWorld, type World } from '../support/world';

// A client that is generated from the complete contract, type-checked, and driven against a server.

const ROOT = join(__dirname, '../..');
const folder = join(process.env.TRUNKLINE_TEST_FOLDER!, 'sdk');
let world: World;
let server: Server;
let url: string;
let engine: Running;

beforeAll(async () => {
  world = await createWorld();
  await world.work();
  await ownNumber(world, world.company);
  engine = startOutreach(world.deps);
  server = buildApp(world.deps).listen(0);
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}/api/v1`;
});
afterAll(async () => {
  await engine.stop();
  server.closeAllConnections();
  server.close();
  await world.close();
});

test('the SDK that @hey-api/openapi-ts makes of the contract compiles and works', async () => {
  execFileSync(
    clientsBin('openapi-ts'),
    ['-i', './dist/openapi.yaml', '-o', folder, '-c', '@hey-api/client-fetch', '--no-log-file'],
    { cwd: ROOT, stdio: 'pipe' },
  );
  copyFileSync(join(__dirname, 'sdk-driver.ts.txt'), join(folder, 'driver.ts'));
  const types = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--lib',
    'es2022,dom,dom.iterable',
  ];
  const checked = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    [
      ...types,
      '--types',
      'node',
      '--typeRoots',
      join(ROOT, 'node_modules/@types'),
      join(folder, 'driver.ts'),
    ],
    {
      encoding: 'utf8',
      cwd: folder,
    },
  );
  expect([checked.status, checked.stdout]).toEqual([0, '']);
  const loader = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
  const { stdout: output } = await promisify(execFile)('node', [
    '--import',
    loader,
    join(folder, 'driver.ts'),
    url,
    world.company.auth,
  ]);
  expect(JSON.parse(output)).toEqual({
    company: Number(world.company.id),
    fleet: true,
    by_name: true,
    changed: 5,
    stale: 412,
    refused: { timeout_seconds: ['must be >= 12'] },
    members: [1, 0, 3],
    page: [[{ id: expect.any(Number), name: 'Acme', paused: true }], 1],
    bare: 1,
    zones: true,
    list: [[expect.any(Number)], null, [], 2, true],
    numbers: [
      2,
      2,
      [{ caller_id: 'none', reason: 'is not a possible telephone number' }],
      1,
      ['+12125550145'],
    ],
    file: [
      'succeeded',
      1,
      1,
      [{ line: 3, caller_id: 'bad', reason: 'is not a possible telephone number' }],
      1,
    ],
    files: ['unblock', 'November', 422, 'phone,name\n6175550144,Ann\nbad,Bob\n'],
    // Without credentials, the answer has what this submission sent.
    lead: [201, true, { last_name: 'Lee' }, [['Hi Ann', true]]],
    timeline: [
      ['created', 'sms_sent', 'updated', 'waiting'],
      ['dial', 'leave_schedule', 'end'],
    ],
    leads: [
      [{ caller_id: '+13105550177' }, { caller_id: '+13105550178' }],
      true,
      1,
      3,
      { state: 'CA' },
      true,
      1,
    ],
    explained: ['dial', 'sdk', [[true, true, null]]],
    call: [
      'dial',
      true,
      'hang_up',
      1,
      95,
      { zip: '90012', first_name: 'Ann', last_name: 'Lee' },
      1,
    ],
    report: [
      [1, 1],
      [1, 0],
    ],
    placed: [
      'outbound',
      2.5,
      { first_name: 'Ann', last_name: 'Lee', zip: '90012', policy: 'sold' },
    ],
    gone: true,
    missing: 404,
  });
});
