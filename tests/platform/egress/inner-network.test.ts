import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { startWebhooks } from '../../../src/main/background/start';
import { createGuardedRequest } from '../../../src/platform/egress/guarded-request';
import type { Lookup } from '../../../src/platform/egress/resolve-names';
import { eventually } from '../../support/engine-process';
import { LITERALS } from '../../support/refused-hosts';
import { buildWebhookHelpers } from '../../support/webhooks';
import { useWorld } from '../../support/use-world';

// URLs of customers must not lead into an inner network. A canary on loopback counts connections.

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
const world = useWorld({ fresh: 'world' });
const here = buildWebhookHelpers(world);

async function canary(host: string, port = 0) {
  const state = { connections: 0, port: 0 };
  const server = createServer((_, res) => void res.end('tweet')).on(
    'connection',
    () => void state.connections++,
  );
  await new Promise<void>((done) => server.listen(port, host, done));
  state.port = (server.address() as AddressInfo).port;
  world.closeLater(() => (server.closeAllConnections(), server.close()));
  return state;
}

const begin = (lookup: Lookup, allowNetworks: string[] = []) => {
  const request = createGuardedRequest({ allow_networks: allowNetworks, lookup });
  world.closeLater(request.close);
  world.closeLater(startWebhooks({ ...world.deps, request }, { delays: [5] }).stop);
};
const names =
  (...answers: string[][]): Lookup =>
  async () =>
    (answers.length > 1 ? answers.shift()! : answers[0]!).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));

test('inner addresses are not saved; deliveries to a saved one are dead at once', async () => {
  const four = await canary('127.0.0.1');
  const six = hasIpv6 ? await canary('::1', four.port) : four;
  const body = { name: 'Hook', trigger_type: 'new_call_started' };
  for (const host of LITERALS) {
    const res = await world.company.api('post', 'outgoing_webhooks', {
      body: { ...body, url: `http://${host}:${four.port}/{{token}}` },
    });
    expect([host, res.status, Object.keys(res.body.errors)]).toEqual([host, 422, ['url']]);
  }
  const ids = [];
  for (const host of LITERALS) {
    const { id } = await here.hook('https://crm.example.com/');
    await world.sql('UPDATE outgoing_webhooks SET url = $2, origin = $2 WHERE id = $1', [
      id,
      `http://${host}:${four.port}/`,
    ]);
    ids.push(id);
  }
  await here.calls(1);
  begin(names(['127.0.0.1']));
  await eventually(
    async () =>
      (await world.sql(`SELECT FROM webhook_deliveries WHERE status = 'dead'`)).length ===
      LITERALS.length,
  );
  const notes = await world.sql<{ notes: string }>('SELECT DISTINCT notes FROM webhook_logs');
  expect(notes).toEqual([{ notes: 'refused_address; dead: it was not sent, and will not be' }]);
  expect([ids.length, four.connections, six.connections]).toEqual([LITERALS.length, 0, 0]);
});

test('no name leads to one, even when its addresses change', async () => {
  const four = await canary('127.0.0.1');
  const six = hasIpv6 ? await canary('::1', four.port) : four;
  const { id } = await here.hook(`http://inner.example.com:${four.port}/`, { retries: 3 });
  await here.calls(4);
  begin(names(['127.0.0.1'], ['93.184.215.14', '::1'], ['::ffff:127.0.0.1'], ['169.254.169.254']));
  await eventually(
    async () => (await here.statuses(id)).filter((status) => status === 'dead').length === 4,
  );
  expect([four.connections, six.connections]).toEqual([0, 0]);
});

test('a redirect to one is a response; allowed networks can be reached', async () => {
  if (!hasIpv6) return;
  const inner = await canary('::1');
  const outer = createServer(
    (req, res) =>
      void res
        .writeHead(req.url === '/ok' ? 200 : 302, { Location: `http://[::1]:${inner.port}/` })
        .end(),
  );
  await new Promise<void>((done) => outer.listen(0, '127.0.0.1', done));
  world.closeLater(() => (outer.closeAllConnections(), outer.close()));
  const url = `http://allowed.example.com:${(outer.address() as AddressInfo).port}`;
  const [moved, fine] = [await here.hook(`${url}/`, { retries: 0 }), await here.hook(`${url}/ok`)];
  await here.calls(1);
  begin(names(['127.0.0.1']), ['127.0.0.1/32']);
  await eventually(
    async () =>
      (await here.statuses(moved.id))[0] === 'dead' &&
      (await here.statuses(fine.id))[0] === 'delivered',
  );
  expect((await here.logs(moved.id))[0]).toMatchObject({ code: 302, success: false });
  expect(inner.connections).toBe(0);
});
