import { RecordName } from '../noun/record-name';
import { PostingInstructions } from '../views/webhooks/posting-instructions';
import { noun } from './layout';
import { describePaused, stateColumn } from './states';

export const inboundWebhooks = noun({
  noun: 'inbound_webhooks',
  words: { singular: 'inbound webhook', plural: 'inbound webhooks', also: 'ping post or RTB in' },
  about: 'An address where sellers of calls ask which buyer would take a call, and hand it over.',
  title: ({ name, id }) => (name as string | null) ?? `Inbound webhook ${String(id)}`,
  groups: [
    {
      title: 'Inbound webhook',
      fields: [
        { field: 'name', help: 'For your own use.' },
        {
          field: 'vanity_uri',
          label: 'Last part of its address',
          placeholder: 'auto-partner',
          help: 'Small letters, digits, - and _.',
        },
        { field: 'offer_id', label: 'Offer that gets the calls', help: '' },
        {
          field: 'traffic_source_id',
          label: 'Source',
          help: 'Of calls whose sender names none.',
        },
      ],
    },
    {
      title: 'Who may use it',
      fields: [
        {
          field: 'has_auth_token',
          label: 'Senders need a token',
          help: 'Without one, anybody who knows the address can hold your buyers.',
        },
        {
          field: 'show_buyer_names',
          label: 'Sellers see the names of buyers',
          help: 'And of the suppression lists that a caller is on.',
        },
      ],
    },
    {
      title: 'Holding buyers',
      isClosed: true,
      fields: [
        {
          field: 'hold_seconds',
          label: 'A buyer is held for',
          unit: 'seconds',
          help: 'After the question, and again after the call was handed over.',
        },
        {
          field: 'max_open_holds',
          label: 'Held at once, at most',
          unit: 'buyers',
          help: 'For one address.',
        },
      ],
    },
  ],
  hidden: ['paused', 'reset_auth_token'],
  columns: [
    'name',
    stateColumn('paused', describePaused),
    { name: 'offer', title: 'Offer' },
    {
      name: 'traffic_source_id',
      title: 'Source',
      show: ({ traffic_source_id: id }) => <RecordName noun="traffic_sources" id={id} />,
    },
    { name: 'ping_path', title: 'Address for questions' },
    { name: 'has_auth_token', title: 'Needs a token' },
  ],
  copy: { except: ['vanity_uri'] },
  state: describePaused,
  stateNeeds: ['paused'],
  presets: ['offer_id', 'traffic_source_id'],
  panels: [PostingInstructions],
  secrets: ({ auth_token: token }) => [['Token for senders', token]],
  actions: [
    {
      title: () => 'New token',
      scope: 'inbound_webhooks:update',
      when: ({ has_auth_token: hasOne }) => hasOne === true,
      run: async ({ record, send, reload }) => {
        if (!confirm('Make a new token? The present one is refused at once.')) return undefined;
        await send('PUT', `/inbound_webhooks/${String(record.id)}`, { reset_auth_token: true });
        await reload();
        return undefined;
      },
    },
  ],
});
