import { LeadTokenPowers } from '../editors/lead-token-powers';
import { Payouts } from '../editors/payouts';
import { linkTo } from '../route';
import { OfferBuyers } from '../views/assigned-buyers';
import { PostingInstructions } from '../views/posting';
import { buildTestLink } from './actions';
import { noun } from './layout';
import { countIds, MEMBER_FIELDS } from './shared-groups';

export const offers = noun({
  noun: 'offers',
  words: { singular: 'offer', plural: 'offers', also: 'a campaign' },
  about: 'An offer takes calls and leads from your traffic, and gives them to its buyers.',
  title: ({ name, id }) => (name as string | null) ?? `Offer ${String(id)}`,
  groups: [
    {
      title: 'Offer',
      fields: [
        'name',
        { field: 'description', label: 'Note', isWide: true },
        {
          field: 'time_zone',
          help: 'For leads whose own zone is unknown.',
        },
      ],
    },
    {
      title: 'Buyers',
      only: 'create',
      help: 'The buyers that its calls may go to. More can be added at any time.',
      fields: [{ field: 'buyer_ids', label: 'Buyers' }],
    },
    {
      title: 'Groups of buyers',
      fields: [{ field: 'buyer_group_ids', label: 'Buyer groups' }],
    },
    {
      title: 'What callers hear',
      fields: [
        {
          field: 'greeting_message',
          label: 'Greeting',
          placeholder: 'Thank you for calling. We connect you now.',
          help: 'Read out, or the address of a recording. Empty: nothing.',
        },
        {
          field: 'abandoned_message',
          label: 'When you called them, and no buyer is free',
          help: 'Read out, or the address of a recording; then the call ends.',
        },
      ],
    },
    {
      title: 'When no buyer is left',
      fields: [
        { field: 'fallback_type', label: 'The caller' },
        {
          field: 'fallback_message',
          label: 'Hears',
          when: ({ fallback_type: kind }) => kind === 'message' || kind === 'voicemail',
        },
        {
          field: 'fallback_number',
          label: 'Is sent to',
          placeholder: '+1 310 555 0123',
          when: ({ fallback_type: kind }) => kind === 'number',
        },
      ],
    },
    {
      title: 'Callers who call again',
      isClosed: true,
      fields: [
        {
          field: 'callback_behavior',
          label: 'Who talked to a buyer before',
          help: 'Goes like any other caller, to that buyer first, or to that buyer alone.',
        },
        {
          field: 'skip_duplicates',
          label: 'Skip buyers that would not pay again',
          help: 'Because they paid for the same caller lately.',
        },
        {
          field: 'spacing_seconds',
          label: 'Between two calls to the same buyer, at least',
          unit: 'seconds',
        },
      ],
    },
    {
      title: 'Payouts',
      help: 'What your publishers are paid for a call. The first entry that fits counts; a source without an entry is paid by its own payouts.',
      fields: [{ field: 'payouts', label: 'Payouts', editor: Payouts }],
    },
    {
      title: 'Suppression and lead token',
      isClosed: true,
      fields: [
        {
          field: 'buyer_suppression_ids',
          label: 'Suppression lists',
          help: 'Calls from their numbers are refused, and leads with them are not contacted.',
        },
        {
          field: 'lead_token_powers',
          label: 'Its lead token may',
          editor: LeadTokenPowers,
          help: 'The token is public: anybody who reads a landing page knows it.',
        },
        { field: 'user_offer_id', label: 'Your key for it', help: 'API: user_offer_id.' },
      ],
    },
  ],
  hidden: ['paused', 'reset_lead_token', 'lead_token', ...MEMBER_FIELDS],
  columns: [
    'name',
    {
      name: 'buyer_ids',
      title: 'Buyers',
      show: ({ buyer_ids: ids }) => countIds(ids),
    },
    {
      name: 'buyer_group_ids',
      title: 'Groups',
      show: ({ buyer_group_ids: ids }) => countIds(ids),
    },
    { name: 'fallback_type', title: 'When no buyer is left' },
    { name: 'user_offer_id', title: 'Your key' },
    'paused',
    { name: 'created_at', title: 'Created' },
  ],
  actions: [
    buildTestLink('Test call', 'calls:read', ({ id }) =>
      linkTo('test-call', null, { offer_id: String(id) }),
    ),
    {
      title: () => 'New lead token',
      scope: 'offers:routing',
      run: async ({ record, send, reload }) => {
        const question =
          'Make a new lead token? Landing pages that have the present one can send no more leads.';
        if (!confirm(question)) return undefined;
        await send('PUT', `/offers/${String(record.id)}`, { reset_lead_token: true });
        await reload();
        return 'The offer has a new lead token.';
      },
    },
  ],
  copy: { except: ['user_offer_id', 'external_record_id'] },
  presets: ['buyer_ids'],
  panels: [OfferBuyers, PostingInstructions],
  state: ({ paused }) =>
    paused ? { text: 'paused', tone: 'warn' } : { text: 'active', tone: 'good' },
  stateNeeds: ['paused'],
});
