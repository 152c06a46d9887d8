import { Payouts } from '../editors/payouts';
import { BuyerCaps } from '../views/buyer-caps';
import { describeBuyerState } from '../views/buyer-state';
import { SourceAccount } from '../views/money/account-panel';
import { SourcePayouts } from '../views/source-payouts';
import { SourceReport } from '../views/source-report';
import { SourceTokens } from '../views/source-tokens';
import { buildResetCaps } from './actions';
import { noun } from './layout';
import { buildSignInGroup, CAPS } from './shared-groups';

export const trafficSources = noun({
  noun: 'traffic_sources',
  words: {
    singular: 'traffic source',
    plural: 'traffic sources',
    also: 'a publisher, vendor or affiliate',
  },
  about: 'A traffic source sends you calls and leads, and is paid for those that a buyer pays for.',
  title: ({ name, id }) => (name as string | null) ?? `Source ${String(id)}`,
  groups: [
    {
      title: 'Traffic source',
      fields: [
        'name',
        { field: 'company_name', label: 'Company' },
        { field: 'first_name', label: 'First name' },
        { field: 'last_name', label: 'Last name' },
        { field: 'email', help: 'For your own use: nothing is sent to it.' },
        { field: 'time_zone', help: 'Its caps begin again at midnight in this zone.' },
        { field: 'description', label: 'Note', isWide: true },
      ],
    },
    {
      title: 'Payouts',
      help: 'What it is paid for a call to an offer that has no payouts for it. The first entry that fits counts.',
      fields: [{ field: 'payouts', label: 'Payouts', editor: Payouts }],
    },
    buildSignInGroup('publisher', 'the calls and leads that they sent, and what these pay'),
    {
      title: 'Which buyers get its calls',
      isClosed: true,
      fields: [
        {
          field: 'allowed_buyer_ids',
          label: 'Only these buyers',
          help: 'Empty: any buyer of the offer.',
        },
        { field: 'blocked_buyer_ids', label: 'Never these buyers' },
      ],
    },
    CAPS,
    {
      title: 'Your systems',
      isClosed: true,
      fields: [
        {
          field: 'user_traffic_source_id',
          label: 'Your key for it',
          help: 'Landing pages and links may name it. API: user_traffic_source_id.',
        },
      ],
    },
  ],
  hidden: ['paused', 'reset_total_caps'],
  columns: [
    'name',
    { name: 'company_name', title: 'Company' },
    { name: 'calls_count', title: 'Calls' },
    { name: 'last_call_at', title: 'Last call' },
    { name: 'user_traffic_source_id', title: 'Your key' },
    'paused',
  ],
  actions: [buildResetCaps('traffic_sources', 'traffic_sources:update')],
  copy: { except: ['user_traffic_source_id', 'external_record_id', 'team_ids', 'email'] },
  panels: [SourceReport, SourcePayouts, SourceTokens, BuyerCaps, SourceAccount],
  state: describeBuyerState,
  stateNeeds: ['paused', 'maxed_out_by'],
});
