import { BidRequest, BidResponse } from '../editors/bids';
import { Conversions } from '../editors/conversions';
import { Filters } from '../editors/filters';
import { wordedChoice } from '../editors/worded-choice';
import { States } from '../editors/states';
import { WeekEditor } from '../editors/week-editor';
import { dollars } from '../format';
import { BuyerCaps } from '../views/buyer-caps';
import { BUYER_STATE_COLUMNS, describeBuyerState } from '../views/buyer-state';
import { BuyerAccount } from '../views/money/account-panel';
import { PAYMENT_TERMS } from '../views/money/payment-terms';
import type { Json } from '../transport';
import { buildResetCaps } from './actions';
import { noun } from './layout';
import { buildSignInGroup, CAPS } from './shared-groups';

export const buyers = noun({
  noun: 'buyers',
  words: { singular: 'buyer', plural: 'buyers', also: 'a target' },
  about: 'A buyer takes calls at a telephone number or SIP address, and pays for them.',
  title: ({ name, id }) => (name as string | null) ?? `Buyer ${String(id)}`,
  reads: {
    record_token_filter_list: 'record_token_filter_data',
    record_token_additional_list: 'record_token_additional_data',
    current_conversion_token_values: 'token_values',
    current_conversion_attribution_token_values: 'attribution_token_values',
  },
  groups: [
    {
      title: 'Buyer',
      fields: [
        'name',
        {
          field: 'number',
          label: 'Sends calls to',
          placeholder: '+1 310 555 0123 or sip:desk@acme.example',
          help: 'A telephone number, or sip: and an address.',
        },
        'buyer_type',
        'time_zone',
        { field: 'email', help: 'For your own use: nothing is sent to it.' },
      ],
    },
    {
      title: 'Price',
      fields: [
        { field: 'current_conversion_revenue', label: 'Pays for a call' },
        {
          field: 'current_conversion_duration',
          label: 'If it lasts at least',
          unit: 'seconds',
          help: 'Such a call counts as converted. 0: paid when the buyer is dialed.',
        },
        {
          field: 'current_conversion_duplicate_timeframe',
          label: 'Once per caller in',
          unit: 'seconds',
          help: '86,400 is a day, 604,800 a week.',
        },
      ],
    },
    {
      title: 'Several prices, by hour and filter',
      isClosed: true,
      help: 'For buyers who pay differently by hour, state or other facts. A simple price is the fields above.',
      fields: [
        { field: 'buyer_conversions_schedule', label: 'Time frames', editor: Conversions },
        { field: 'current_conversion_name', label: 'Name of the present price' },
        { field: 'current_conversion_revenue_min', label: 'Price at least' },
        { field: 'current_conversion_revenue_max', label: 'Price at most' },
        { field: 'current_conversion_revenue_increment', label: 'Price changes in steps of' },
        {
          field: 'current_conversion_token_values',
          label: 'Present price only for calls where',
          editor: Filters,
        },
        {
          field: 'current_conversion_attribution_token_values',
          label: 'Present price adds these tokens',
        },
      ],
    },
    {
      title: 'Who gets a call',
      fields: [
        {
          field: 'route_by_type',
          label: 'Order by',
          isWide: false,
          editor: wordedChoice({
            tier: 'its priority',
            revenue: 'what it pays',
            epc: 'what it earned per call lately (EPC)',
          }),
          help: 'In the API: route_by_type.',
        },
        {
          field: 'tier',
          label: 'Priority',
          help: 'The lowest is tried first, in every offer that has this buyer. In the API: tier.',
          when: ({ route_by_type }) => route_by_type === 'tier',
        },
        {
          field: 'weight',
          label: 'Weight within its priority',
          help: 'Its share of the calls is this, divided by the weights of all of its priority.',
        },
        {
          field: 'epc_timeframe',
          label: 'Earnings of the last',
          unit: 'hours',
          when: ({ route_by_type }) => route_by_type === 'epc',
        },
        {
          field: 'epc_assumed_amount',
          label: 'Assumed earnings of a new buyer',
          when: ({ route_by_type }) => route_by_type === 'epc',
        },
        {
          field: 'epc_assumed_calls_count',
          label: 'Assumed over this many calls',
          when: ({ route_by_type }) => route_by_type === 'epc',
        },
      ],
    },
    CAPS,
    {
      title: 'Hours',
      fields: [
        {
          field: 'business_hours_schedule',
          label: 'Open, in the time zone of the buyer',
          editor: WeekEditor,
          help: 'Drag over the bars, or type such as 09:00–12:00, 13:00–17:30.',
        },
      ],
    },
    {
      title: 'Filters and geography',
      fields: [
        {
          field: 'record_token_filter_list',
          label: 'Only calls where all of these hold',
          editor: Filters,
          help: 'Tokens of the call or facts such as geo_state and area_code.',
        },
        { field: 'states', label: 'Only from these states', editor: States },
        { field: 'area_codes', label: 'Only from these area codes' },
        { field: 'zip_list_id', label: 'Only from the ZIP codes of' },
        { field: 'buyer_suppression_ids', label: 'Never callers on these suppression lists' },
        {
          field: 'record_token_additional_list',
          label: 'Adds these tokens to its calls',
          isWide: true,
        },
      ],
    },
    {
      title: 'Dialing',
      isClosed: true,
      fields: [
        { field: 'timeout_seconds', label: 'Rings for', unit: 'seconds' },
        { field: 'press_one_to_accept', label: 'Must press 1 to accept' },
        { field: 'record_calls', label: 'Calls are recorded' },
        { field: 'display_caller_id_type', label: 'Caller ID shown to the buyer' },
        { field: 'display_service_number_id', label: 'Number shown' },
        { field: 'dtmf_tones', label: 'Keys played when it answers' },
        { field: 'sip_headers', label: 'SIP headers' },
      ],
    },
    {
      title: 'Bidding',
      when: ({ buyer_type }) => buyer_type === 'rtb',
      help: 'The buyer is asked for a bid before it gets a call.',
      fields: [
        { field: 'bid_request', label: 'How it is asked', editor: BidRequest },
        { field: 'bid_response', label: 'Where its answer has what', editor: BidResponse },
        { field: 'ping_timeout_seconds', label: 'Has to answer within', unit: 'seconds' },
      ],
    },
    {
      title: 'Account',
      help: 'Changed later where its account is shown.',
      only: 'create',
      isClosed: true,
      fields: PAYMENT_TERMS,
    },
    {
      ...buildSignInGroup('buyer', 'the calls that it got', { hasTeams: false }),
      isClosed: true,
    },
    {
      title: 'Your systems',
      isClosed: true,
      fields: [
        { field: 'user_buyer_id', label: 'Your own ID of the buyer' },
        { field: 'buyer_fleet_id', label: 'Fleet' },
      ],
    },
  ],
  hidden: ['paused', 'reset_bid_secret', 'reset_total_caps', 'copy_another_buyer', 'copy_buyer_id'],
  columns: [
    'name',
    {
      name: 'paused',
      title: 'State',
      show: (buyer) => describeBuyerState(buyer).text,
      needs: BUYER_STATE_COLUMNS,
    },
    { name: 'number', title: 'Sends calls to' },
    {
      name: 'bid_price',
      title: 'Pays',
      show: ({ bid_price }) => dollars(bid_price as number | null),
    },
    { name: 'tier', title: 'Priority' },
    'weight',
    { name: 'connection_daily_used', title: 'Calls today' },
    { name: 'last_call_at', title: 'Last dialed' },
    { name: 'buyer_group_names', title: 'Groups', isHidden: true },
  ],
  hiddenFilters: ['number'],
  copy: { field: 'copy_another_buyer', idField: 'copy_buyer_id' },
  panels: [BuyerCaps, BuyerAccount],
  state: describeBuyerState,
  stateNeeds: BUYER_STATE_COLUMNS,
  secrets: ({ buyer }) => [
    ['Secret that signs the questions for bids', (buyer as Json).bid_secret],
  ],
  actions: [
    buildResetCaps('buyers', 'buyers:routing'),
    {
      title: () => 'New bid secret',
      scope: 'buyers:routing',
      when: ({ buyer_type }) => buyer_type === 'rtb',
      run: async ({ record, send, reload }) => {
        await send('PUT', `/buyers/${String(record.id)}`, { reset_bid_secret: true });
        await reload();
        return undefined;
      },
    },
  ],
});
