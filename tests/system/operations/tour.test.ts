import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  parseBlocks,
  maskBoth,
  isLook,
  openShell,
  replaceOutput,
  type Block,
  type Shell,
} from '../../support/documents';
import { builtProduct } from '../../support/build';
import { freePort, startServer, type Running } from '../../support/process';
import { FAR_MS } from '../../support/patience';

// The documents are read as a newcomer reads them: in this order, on one fresh installation.
// When texts have changed on purpose, run UPDATE_DOCUMENTS=1 npx jest operations/tour, then
// npx prettier --write docs, and look at the difference. Blocks of jsonc are changed by hand.
const DOCUMENTS = [
  'README.md',
  'docs/tour.md',
  'docs/routing.md',
  'docs/money.md',
  'docs/alerts.md',
  'docs/leads.md',
  'docs/migrating.md',
];
/** Commands that a reader has run before the first request. */
const INSTALL = /^npm (ci|start|test)\b/;
const LOOK_AGAIN_MS = FAR_MS;

const ROOT = join(__dirname, '../../..');
const folder = join(process.env.TRUNKLINE_TEST_FOLDER!, 'tour');
let server: Running;
let shell: Shell;
let port: string;
let key: string;

const read = (document: string) => readFileSync(join(ROOT, document), 'utf8');

beforeAll(async () => {
  for (const program of ['bash', 'curl', 'npx']) {
    if (spawnSync(program, ['--version']).error)
      throw new Error(`The tour needs ${program} on the PATH`);
  }
  mkdirSync(folder);
  // Commands run next to the compiled program, so that files they write do not stay with it.
  const built = builtProduct();
  for (const name of ['package.json', 'node_modules', 'dist'])
    symlinkSync(join(built, name), join(folder, name));
  port = String(await freePort());
  const environment = { DATA_DIR: join(folder, 'data'), PORT: port };
  mkdirSync(environment.DATA_DIR);
  server = await startServer(environment);
  const text = server.output();
  key = `${/public key\s+(\S+)/.exec(text)![1]}:${/private key\s+(\S+)/.exec(text)![1]}`;
  shell = openShell(folder, environment);
}, 600_000);

afterAll(async () => {
  shell?.close();
  await server?.end('SIGTERM');
});

/** A reader puts in the keys that `npm start` printed. */
const fillKeys = ({ commands }: Block) =>
  commands
    .replace(/pk_…:…/g, key)
    .replace(/(127\.0\.0\.1|localhost):3000/g, () => `127.0.0.1:${port}`);

async function check(block: Block): Promise<void> {
  const deadline = Date.now() + LOOK_AGAIN_MS;
  for (;;) {
    const { output, errors, failed } = await shell.run(fillKeys(block));
    const { actual, shown } = block.output
      ? maskBoth(output, block.output)
      : { actual: null, shown: null };
    const isSame = !failed && isDeepStrictEqual(actual, shown);
    if (!isSame && isLook(block) && Date.now() < deadline) {
      await new Promise((done) => setTimeout(done, 200));
      continue;
    }
    if (!isSame && process.env.UPDATE_DOCUMENTS) return update(block, output);
    const { location } = block;
    expect({ location, failed: failed && (errors || output), output: actual }).toEqual({
      location,
      failed: false,
      output: shown,
    });
    return;
  }
}

function update(block: Block, output: string): void {
  const document = block.location.split(':')[0]!;
  writeFileSync(join(ROOT, document), replaceOutput(read(document), block, output));
}

test.each(DOCUMENTS)(
  'every command block of %s runs, and prints what is shown',
  async (document) => {
    const blocks = parseBlocks(document, read(document));
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) if (!INSTALL.test(block.commands)) await check(block);
  },
);

test('the README shows five requests with output, and every block of the tour is run', () => {
  const requests = parseBlocks('README.md', read('README.md')).filter(({ commands }) =>
    /\bcurl\b/.test(commands),
  );
  expect(requests).toHaveLength(5);
  expect(requests.filter(({ output }) => !output)).toEqual([]);
  expect(read('docs/tour.md')).not.toMatch(/^```(sh|shell|console)$/m);
});
