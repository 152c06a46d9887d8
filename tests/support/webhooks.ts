import { addRecording } from './recorded-calls';
import { requests } from './requests';
import type { World } from './world';

/** Requests and queries of tests of webhooks. */
export function buildWebhookHelpers(world: Pick<World, 'company' | 'sql'>) {
  const { ok } = requests(() => world.company);
  return {
    ok,
    /** Creates a webhook for new calls. */
    hook: async (url: string, fields: object = {}) => {
      const body = { name: 'Hook', trigger_type: 'new_call_started', url, ...fields };
      const res = await ok('post', 'outgoing_webhooks', body);
      return { id: res.outgoing_webhook.id as number, secret: res.secret as string };
    },
    /** Inserts calls, each in a transaction of its own, and returns their ids. */
    calls: async (count: number) => {
      const ids: number[] = [];
      for (let n = 0; n < count; n++) {
        const [row] = await world.sql<{ id: string }>(
          addRecording(`INSERT INTO calls (company_id, uuid, direction, status, carrier, caller_number)
          VALUES ($1, gen_random_uuid(), 'inbound', 'ringing', 'sandbox', 13105550100)
          RETURNING id`),
          [world.company.id],
        );
        ids.push(Number(row!.id));
      }
      return ids;
    },
    logs: async (outgoingWebhookId: number) =>
      (await ok('get', `webhook_logs?outgoing_webhook_id=${outgoingWebhookId}&per_page=1000`))
        .webhook_logs,
    shown: async (id: number) => (await ok('get', `outgoing_webhooks/${id}`)).outgoing_webhook,
    statuses: async (outgoingWebhookId: number) =>
      (
        await world.sql<{ status: string }>(
          'SELECT status FROM webhook_deliveries WHERE outgoing_webhook_id = $1 ORDER BY id',
          [outgoingWebhookId],
        )
      ).map(({ status }) => status),
  };
}

export const parseCallId = (body: string): number => JSON.parse(body).data.call.id as number;
