import { dollars } from '../../format';
import type { ColumnLayout } from '../../nouns/layout';
import { Badge } from '../../parts/basics';
import type { TableLayout } from '../../table/columns';
import type { AccountOwner } from './account-buttons';

/** Those who have accounts, and what is said of each account. */
export interface Owners {
  title: string;
  about: string;
  owner: AccountOwner;
  noun: string;
  words: TableLayout['words'];
  columns: readonly ColumnLayout[];
}

export const BUYERS: Owners = {
  title: 'Accounts of buyers',
  about:
    'What calls have cost a buyer, what it has paid in, and the balance of the two. Buyers who pay in advance get calls while their balance pays for them.',
  owner: 'buyer_id',
  noun: 'buyers',
  words: { singular: 'buyer', plural: 'buyers' },
  columns: [
    { name: 'name', title: 'Buyer' },
    {
      name: 'prepaid',
      title: 'Pays',
      show: ({ prepaid }) => (prepaid ? <Badge tone="good">in advance</Badge> : 'later'),
    },
    { name: 'billed_total', title: 'Billed' },
    { name: 'paid_total', title: 'Paid in' },
    {
      name: 'account_balance',
      title: 'Balance',
      show: ({ account_balance, prepaid }) => showBalance(account_balance as number, prepaid),
      needs: ['prepaid'],
    },
    { name: 'reserved_balance', title: 'Held for open calls', isHidden: true },
    { name: 'credit_limit', title: 'May owe up to', isHidden: true },
    { name: 'balance_low_limit', title: 'Warns below', isHidden: true },
  ],
};

export const SOURCES: Owners = {
  title: 'Payouts to sources',
  about:
    'What the calls of a source have earned it, what you have paid to it, and what you still owe. Payouts are recorded here; nothing is transferred.',
  owner: 'traffic_source_id',
  noun: 'traffic_sources',
  words: { singular: 'source', plural: 'sources' },
  columns: [
    { name: 'name', title: 'Source' },
    { name: 'earned_total', title: 'Earned' },
    { name: 'paid_total', title: 'Paid out' },
    { name: 'account_balance', title: 'Still owed' },
  ],
};

/** Below 0, a buyer who pays later owes; one who pays in advance gets calls on credit alone. */
function showBalance(amount: number, isPrepaid: unknown) {
  if (amount >= 0) return dollars(amount);
  return isPrepaid ? <Badge tone="bad">{dollars(amount)}</Badge> : `owes ${dollars(-amount)}`;
}
