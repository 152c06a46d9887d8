import type { Schemas } from '../../api';

/** The kinds of entries, in the words of people who keep accounts. */
export const ENTRY_KINDS: Readonly<Record<Schemas['AccountEntryKind'], string>> = {
  deposit: 'Deposit',
  conversion: 'Paid call',
  return: 'Call taken back',
  adjustment: 'Adjustment',
  payout: 'Call earned',
  payment: 'Payout',
};

/** The sums of a statement, by the kinds of their entries. */
export const TOTAL_NAMES: Readonly<Record<Schemas['AccountEntryKind'], string>> = {
  deposit: 'Paid in',
  conversion: 'Paid calls',
  return: 'Taken back',
  adjustment: 'Adjustments',
  payout: 'Earned by calls',
  payment: 'Paid out',
};
