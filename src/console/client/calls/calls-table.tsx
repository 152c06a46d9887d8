import { clockDuration, duration, sentence, yesNo } from '../format';
import type { ColumnLayout } from '../nouns/layout';
import { CallBadges } from '../parts/call-badges';
import type { Session } from '../session';
import type { TableLayout } from '../table/columns';
import { PARTNER_TITLES, seesOnly } from '../visible-contract';
import { describeStatus, DIRECTIONS, STATUS_NEEDS } from './call-status';

const toClock = (seconds: string | undefined): string =>
  seconds ? clockDuration(Number(seconds)) : '';

/** Those of a file, whichever the table shows. */
const EXPORTED: readonly ColumnLayout[] = [
  { name: 'id', title: 'Call' },
  { name: 'uuid', title: 'Call UUID' },
  {
    name: 'category',
    title: 'Direction',
    cell: ({ category = '' }) => DIRECTIONS[category] ?? category,
  },
  { name: 'created_at', title: 'Started' },
  { name: 'caller_number' },
  { name: 'number_called', title: 'Number called' },
  { name: 'traffic_source', title: 'Source' },
  { name: 'sub_id' },
  { name: 'offer' },
  { name: 'buyer' },
  { name: 'connected_to', title: 'Number of the buyer' },
  { name: 'status', needs: STATUS_NEEDS, cell: (call) => sentence(describeStatus(call)) },
  { name: 'total_duration', title: 'Duration', cell: (call) => toClock(call.total_duration) },
  {
    name: 'answered_duration',
    title: 'Connected',
    cell: (call) => toClock(call.answered_duration),
  },
  { name: 'buyer_converted' },
  { name: 'unbilled_reason', title: 'Why it was not paid' },
  { name: 'traffic_source_converted' },
  { name: 'revenue' },
  { name: 'payout' },
  {
    name: 'unbilled_reason',
    title: 'Returned',
    cell: ({ unbilled_reason: reason }) => yesNo(reason === 'returned'),
  },
  { name: 'sandbox', title: 'Test' },
];

const CALLS: TableLayout = {
  noun: 'calls',
  words: { singular: 'call', plural: 'calls' },
  title: ({ id }) => `Call ${String(id)}`,
  order: 'created_at',
  labels: {
    buyer_converted: 'Paid by the buyer',
    offer_converted: 'Paid to the source',
    traffic_source_converted: 'Paid to the source',
    either_converted: 'Paid by the buyer or to the source',
    traffic_source_id: 'Source',
    sub_id: 'Sub-ID',
    no_buyer: 'No buyer could take it',
    in_progress: 'Under way',
    has_recording: 'Recorded',
    sandbox: 'Test calls',
    token_key: 'Token',
    token_value: 'Value of the token',
    category: 'Direction',
    number_id: 'Number called',
    ended_at_from: 'Ended after',
    ended_at_to: 'Ended before',
    unbilled_reason: 'Why it was not paid',
    caller_number: 'Caller',
  },
  columns: [
    { name: 'created_at', title: 'When' },
    'caller_number',
    { name: 'number_called', title: 'Called', isHidden: true },
    'offer',
    { name: 'traffic_source', title: 'Source' },
    'buyer',
    {
      name: 'status',
      show: (call) => <CallBadges call={call} />,
      needs: [
        ...STATUS_NEEDS,
        'sandbox',
        'buyer_converted',
        'traffic_source_converted',
        'unbilled_reason',
      ],
    },
    {
      name: 'total_duration',
      title: 'Duration',
      show: (call) => duration(call.total_duration as number | null),
    },
    'revenue',
    'payout',
    {
      name: 'unbilled_reason',
      show: ({ unbilled_reason: reason }) => (reason ? sentence(String(reason)) : ''),
      isHidden: true,
    },
  ],
  exported: EXPORTED,
  hiddenFilters: ['id_from', 'id_to'],
  usualFilters: [
    'buyer_id',
    'offer_id',
    'traffic_source_id',
    'status',
    'buyer_converted',
    'no_buyer',
    'caller_number',
  ],
  filterGroups: {
    Money: ['unbilled_reason', 'offer_converted', 'either_converted'],
    'The call': [
      'category',
      'number_id',
      'in_progress',
      'ended_at_from',
      'ended_at_to',
      'has_recording',
      'sandbox',
    ],
    'People and follow-up': ['agent_id', 'disposition_id', 'schedule_id', 'lead_id'],
    Tokens: ['token_key', 'token_value'],
  },
};

/** A partner's table says what the partner pays, or is paid. */
export function layOutCalls(me: Session['me']): TableLayout {
  const { revenue, payout } = PARTNER_TITLES;
  if (seesOnly('revenue', me))
    return { ...CALLS, labels: { ...CALLS.labels, revenue, buyer_revenue: revenue } };
  if (seesOnly('payout', me))
    return { ...CALLS, labels: { ...CALLS.labels, payout, traffic_source_payout: payout } };
  return CALLS;
}
