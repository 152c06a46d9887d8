import { Webhook } from 'standardwebhooks';
import { pushCommand } from '../../../src/domain/switches/push-command';
import { useWorld } from '../../support/use-world';

interface Pushed {
  status: number;
  body: string;
}

/** The reply of the switch to the next requests. */
let reply: Pushed = { status: 200, body: '' };

const world = useWorld({
  // Signatures are valid for some minutes.
  clock: new Date().toISOString(),
  fresh: 'company',
  receiver: () => (res) => {
    res.statusCode = reply.status;
    res.end(reply.body);
  },
});
const { ok, create } = world;

/** A switch with a URL, and a command for it. */
async function orderCommand() {
  reply = { status: 200, body: '' };
  world.receiver.received.length = 0;
  const { switch: edge, secret } = await ok('post', 'switches', {
    ...{ name: 'edge', webhook_url: `${world.receiver.url}/commands` },
  });
  const buyerId = await create('buyers', { name: 'Buyer', number: world.nextNumber() });
  const offerId = await create('offers', { name: 'Auto', buyer_ids: [buyerId] });
  const begin = { offer_id: String(offerId), switch: 'edge', call_sid: 'sid-1' };
  const { call_session } = await ok('post', 'call_sessions', begin);
  await ok('post', `calls/${call_session.id}`, { hang_up: true });
  const key = {
    company_id: String(world.company.id),
    ...{ switch_id: String(edge.id), command_id: '1' },
  };
  const push = () =>
    pushCommand(key, { job_id: 'job', signal: new AbortController().signal }, world.deps);
  const listOpen = async () => (await ok('get', 'switches/edge/commands')).commands;
  return { secret, push, listOpen };
}

const readStatus = async () =>
  (await ok('post', 'switches/edge/commands/1', { result: 'done' })).command;

test('a command is sent to the URL of its switch, signed, and is done', async () => {
  const { secret, push, listOpen } = await orderCommand();
  await push();
  const [request] = world.receiver.received;
  const headers = request!.headers as Record<string, string>;
  expect(() => new Webhook(secret).verify(request!.body, headers)).not.toThrow();
  expect(JSON.parse(request!.body)).toMatchObject({ command: 'hang_up', call_sid: 'sid-1' });
  expect(await listOpen()).toEqual([]);
  await push();
  expect(world.receiver.received).toHaveLength(1);
});

test('a command that was not received is sent again until it expires', async () => {
  const { push, listOpen } = await orderCommand();
  reply = { status: 503, body: '' };
  await expect(push()).rejects.toThrow('503');
  await expect(push()).rejects.toThrow('503');
  expect(await listOpen()).toHaveLength(1);
  world.clock.later(301);
  await push();
  expect(world.receiver.received).toHaveLength(2);
});

test('the reply of a switch says that it could not carry out a command', async () => {
  const { push } = await orderCommand();
  reply = { status: 200, body: JSON.stringify({ result: 'failed', reason: 'no such call' }) };
  await push();
  expect(await readStatus()).toMatchObject({ status: 'failed', reason: 'no such call' });
});
