import { RecordName } from '../noun/record-name';
import {
  DeliveryBodies,
  DeliveryFacts,
  describeNotes,
  describeResult,
} from '../views/webhooks/delivery';
import { mayRepeat, REPEATED, SendAgain } from '../views/webhooks/send-again';
import { noun } from './layout';
import { describeEvent } from './webhook-words';

export const webhookLogs = noun({
  noun: 'webhook_logs',
  words: { singular: 'delivery', plural: 'deliveries' },
  about: 'Each attempt to send an event to a webhook, with the request and the answer.',
  title: ({ name, id }) => `${(name as string | null) ?? 'Delivery'} · ${String(id)}`,
  groups: [],
  columns: [
    { name: 'created_at', title: 'When' },
    {
      name: 'outgoing_webhook_id',
      title: 'Webhook',
      show: ({ outgoing_webhook_id: id }) => <RecordName noun="outgoing_webhooks" id={id} />,
    },
    { name: 'trigger_type', title: 'Event', show: describeEvent },
    { name: 'success', title: 'Result', show: describeResult, needs: ['code'] },
    { name: 'notes', title: 'Why', show: describeNotes },
    { name: 'attempt', title: 'Attempt' },
    {
      name: 'id',
      title: 'Send again',
      show: (log) => <SendAgain log={log} />,
      needs: ['success', 'trigger_type'],
    },
    { name: 'duration', title: 'Took, ms', isHidden: true },
    { name: 'request_url', title: 'To', isHidden: true },
  ],
  order: 'created_at',
  panels: [DeliveryFacts, DeliveryBodies],
  actions: [
    {
      title: () => 'Send again',
      scope: 'webhook_logs:update',
      when: mayRepeat,
      run: async ({ record, send }) => {
        await send('POST', `/webhook_logs/${String(record.id)}/redeliver`);
        return REPEATED;
      },
    },
  ],
});
