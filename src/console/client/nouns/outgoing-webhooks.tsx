import { Filters } from '../editors/filters';
import { wordedChoice } from '../editors/worded-choice';
import { BodyEditor } from '../views/webhooks/body-editor';
import { OwnerEditor } from '../views/webhooks/owner-editor';
import { WebhookDeliveries } from '../views/webhooks/deliveries-panel';
import { WebhookTest } from '../views/webhooks/test-panel';
import type { Json } from '../transport';
import { noun } from './layout';
import { describePaused, stateColumn, type State } from './states';
import { TRIGGER_WORDS } from './webhook-words';

const describeWebhook = (webhook: Json): State =>
  webhook.paused_reason
    ? { text: `paused: ${String(webhook.paused_reason)}`, tone: 'bad' }
    : describePaused(webhook);

export const outgoingWebhooks = noun({
  noun: 'outgoing_webhooks',
  words: { singular: 'webhook', plural: 'webhooks', also: 'a postback or pixel' },
  about:
    'A request to your own systems when something happens, signed and tried again if it fails.',
  title: ({ name, url }) => (name as string | null) ?? String(url),
  groups: [
    {
      title: 'Webhook',
      fields: [
        { field: 'name', help: 'Shown in menus, deliveries and alerts.' },
        {
          field: 'trigger_type',
          label: 'Sent when',
          editor: wordedChoice(TRIGGER_WORDS),
          help: 'Only events from now on are sent.',
        },
        {
          field: 'url',
          label: 'To',
          placeholder: 'https://crm.example.com/hooks/calls',
          isWide: true,
          help: 'Begins with https:// or http://, and leads to a host on the internet: not to your own network, not to a port of mail, chat or telephony, and without a user name or password in it. Tokens in it are replaced.',
        },
      ],
    },
    { title: 'Whose events', editor: OwnerEditor, fields: ['owner_type', 'owner_id'] },
    {
      title: 'Which events',
      fields: [
        {
          field: 'record_token_filter_list',
          label: 'Only those where all of these hold',
          editor: Filters,
          help: 'Tokens of the call and of its lead.',
        },
      ],
    },
    {
      title: 'Request',
      fields: [
        {
          field: 'body',
          label: 'Body',
          editor: BodyEditor,
          help: 'Write {{caller_number}} or [first_name]{there} for tokens of the event. Values are escaped as the Content-Type needs.',
        },
        { field: 'method', label: 'Method', help: 'Post, if empty.' },
        { field: 'headers', label: 'Headers', help: 'Sent in addition to those of the service.' },
      ],
    },
    {
      title: 'When it fails',
      isClosed: true,
      fields: [
        {
          field: 'retries',
          label: 'Tries again',
          unit: 'times',
          help: 'Later each time: after 5 seconds first, within three days in all.',
        },
        { field: 'timeout_seconds', label: 'Waits for an answer', unit: 'seconds', help: '' },
        {
          field: 'success_codes',
          label: 'Statuses that mean success',
          help: 'Empty: 200 to 299.',
        },
        {
          field: 'alert_email',
          label: 'Mail this address',
          help: 'When the receiver ends the webhook, and when an event is given up. It confirms the address first.',
        },
      ],
    },
  ],
  hidden: ['paused'],
  columns: [
    'name',
    stateColumn('paused', describeWebhook, ['paused_reason']),
    {
      name: 'trigger_type',
      title: 'Sent when',
      show: ({ trigger_type: trigger }) => TRIGGER_WORDS[String(trigger)],
    },
    { name: 'url', title: 'To' },
    { name: 'owner_type', title: 'Events of' },
  ],
  copy: { except: [] },
  state: describeWebhook,
  stateNeeds: ['paused', 'paused_reason'],
  panels: [WebhookTest, WebhookDeliveries],
  secrets: ({ secret }) => [['Secret that signs the requests', secret]],
  actions: [
    {
      title: () => 'New secret',
      scope: 'outgoing_webhooks:update',
      run: async ({ record, send, reload }) => {
        if (!confirm('Make a new secret? For a day, requests are signed with both.'))
          return undefined;
        await send('POST', `/outgoing_webhooks/${String(record.id)}/rotate_secret`);
        await reload();
        return undefined;
      },
    },
  ],
  deletion: {
    title: 'Delete',
    consequence: 'Nothing more is sent, also nothing that is waiting. Its deliveries remain.',
    done: 'Deleted.',
  },
});
