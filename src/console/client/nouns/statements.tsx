import { AccountName } from '../views/money/account-name';
import { describePeriod } from '../views/money/describe-period';
import { NewStatement } from '../views/money/new-statement';
import { StatementPanel } from '../views/money/statement';
import { noun } from './layout';

export const statements = noun({
  noun: 'statements',
  words: { singular: 'statement', plural: 'statements' },
  about: 'All entries of one account in a period, with the balance before and after.',
  title: ({ id }) => `Statement ${String(id)}`,
  groups: [],
  hidden: ['buyer_id', 'traffic_source_id', 'from', 'to', 'time_zone'],
  columns: [
    {
      name: 'period_from',
      title: 'Period',
      show: describePeriod,
      needs: ['period_to', 'time_zone'],
    },
    {
      name: 'buyer_id',
      title: 'Account',
      show: (record) => <AccountName record={record} />,
      needs: ['traffic_source_id'],
    },
    { name: 'entries_count', title: 'Lines' },
    { name: 'opening_balance', title: 'Balance before' },
    { name: 'closing_balance', title: 'Balance after' },
    { name: 'created_at', title: 'Drawn up' },
  ],
  order: 'created_at',
  listPanels: [NewStatement],
  panels: [StatementPanel],
});
