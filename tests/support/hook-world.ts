import { startWebhooks } from '../../src/main/background/webhook-loops';
import { eventually } from './engine-process';
import { checkPayload, startReceiver, type Received } from './receiver';
import { buildWebhookHelpers } from './webhooks';
import { createWorld, type World } from './world';

type Payload = ReturnType<typeof checkPayload>;

export interface Hook {
  id: number;
  secret: string;
  path: string;
  /** The requests so far. */
  got(): Received[];
  /** The payloads, once there are so many; each is checked against the contract. */
  payloads(count: number): Promise<Payload[]>;
}

export interface HookWorld {
  world: World;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** Creates a webhook with a path of its own at the receiver. */
  hook(triggerType: string, fields?: object): Promise<Hook>;
  /** Sends a request that must succeed, and returns the body of the response. */
  ok: ReturnType<typeof buildWebhookHelpers>['ok'];
  /** Another telephone number each time. */
  number(): string;
  close(): Promise<void>;
}

/** A world whose webhooks are sent, with a receiver for them. */
export async function createHookWorld(): Promise<HookWorld> {
  const receiver = await startReceiver();
  const world = await createWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
  const running = startWebhooks(world.deps);
  const { ok } = buildWebhookHelpers(world);
  let paths = 0;
  let numbers = 1000;
  return {
    world,
    receiver,
    ok,
    number: () => `+1310556${++numbers}`,
    hook: async (triggerType, fields = {}) => {
      const path = `/hook${++paths}`;
      const body = {
        name: `Hook ${paths}`,
        trigger_type: triggerType,
        url: `${receiver.url}${path}`,
      };
      const created = await ok('post', 'outgoing_webhooks', { ...body, ...fields });
      const got = () => receiver.received.filter((request) => request.path.startsWith(path));
      return {
        id: created.outgoing_webhook.id as number,
        secret: created.secret as string,
        path,
        got,
        payloads: async (count) => {
          await eventually(() => got().length >= count);
          return got().map(({ body: text }) => checkPayload(text));
        },
      };
    },
    close: async () => {
      await running.stop();
      await world.close();
      await receiver.close();
    },
  };
}
