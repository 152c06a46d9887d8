import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWebhooks } from '../../../src/main/background/start';
import { eventually } from '../../support/engine-process';
import { freePort } from '../../support/process';
import { buildWebhookHelpers } from '../../support/webhooks';
import { createWorld } from '../../support/world';

// The receiver of docs/webhooks.md, as it stands there.

const ROOT = join(__dirname, '../../..');

test('the receiver of docs/webhooks.md accepts our deliveries and no other signature', async () => {
  const [, program] = /```js\n(import[^`]*standardwebhooks[^`]*)```/.exec(
    readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8'),
  )!;
  const world = await createWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
  const here = buildWebhookHelpers(world);
  const port = await freePort();
  const [{ secret, id }, otherHook] = [
    await here.hook(`http://127.0.0.1:${port}/`),
    await here.hook(`http://127.0.0.1:${port}/`, { retries: 0 }),
  ];
  // In the project's folder, so that the library is found.
  const file = join(ROOT, `node_modules/.receiver-${port}.mjs`);
  writeFileSync(file, program!);
  const child = spawn('node', [file], {
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  );
  const running = startWebhooks(world.deps, { delays: [1] });
  await here.calls(1);
  await eventually(
    async () =>
      (await here.statuses(id))[0] === 'delivered' &&
      (await here.statuses(otherHook.id))[0] === 'dead',
  );
  expect(output).toMatch(/^[0-9a-f-]{36} new_call_started\n$/);
  expect((await here.logs(otherHook.id))[0]).toMatchObject({ code: 400, success: false });
  await running.stop();
  child.kill();
  rmSync(file);
  await world.close();
});
