import { GroupBuyers } from '../views/assigned-buyers';
import { BuyerCaps } from '../views/buyer-caps';
import { describeBuyerState } from '../views/buyer-state';
import { buildResetCaps } from './actions';
import { noun } from './layout';
import { buildSignInGroup, CAPS, MEMBER_FIELDS } from './shared-groups';

export const buyerGroups = noun({
  noun: 'buyer_groups',
  words: { singular: 'buyer group', plural: 'buyer groups', also: 'a target group' },
  about: 'A group shares caps among its buyers, and rings them one by one or all at once.',
  title: ({ name, id }) => (name as string | null) ?? `Group ${String(id)}`,
  reads: { concurrency_cap: 'concurrency_cap_limit' },
  groups: [
    {
      title: 'Group',
      fields: [
        'name',
        {
          field: 'dial_buyers_type',
          label: 'Rings its buyers',
          help: 'One by one (sequentially), or all at once: the first to answer gets the call.',
        },
        { field: 'time_zone', help: 'Its caps begin again at midnight in this zone.' },
      ],
    },
    {
      title: 'Buyers',
      only: 'create',
      fields: [{ field: 'buyer_ids', label: 'Buyers of the group' }],
    },
    {
      title: 'Its place among others',
      help: 'For groups that ring all at once. In other groups each buyer has its own.',
      when: ({ dial_buyers_type }) => dial_buyers_type === 'simultaneously',
      fields: [
        { field: 'tier', label: 'Priority', help: 'The lowest is tried first. API: tier.' },
        { field: 'weight', label: 'Weight', help: 'Its share among those of its priority.' },
      ],
    },
    CAPS,
    buildSignInGroup('group', 'the group, its buyers and the calls that these paid for'),
    {
      title: 'Rights of its teams',
      only: 'update',
      isClosed: true,
      fields: [
        { field: 'grant_team_offer_id', label: 'Let its teams see calls to this offer' },
        { field: 'revoke_team_offer_id', label: 'No longer let them see calls to this offer' },
      ],
    },
  ],
  hidden: ['paused', 'reset_total_caps', ...MEMBER_FIELDS],
  columns: [
    'name',
    { name: 'buyers_count', title: 'Buyers' },
    { name: 'dial_buyers_type', title: 'Rings them' },
    { name: 'connection_daily_used', title: 'Calls taken today' },
    { name: 'cap_reset_at', title: 'Caps begin again' },
    { name: 'paused', title: 'Paused' },
  ],
  actions: [buildResetCaps('buyer_groups', 'buyer_groups:routing')],
  copy: { except: ['team_ids'] },
  panels: [GroupBuyers, BuyerCaps],
  state: describeBuyerState,
  stateNeeds: ['paused', 'maxed_out_by'],
});
