import { ListEditor, type Parts } from '../form/field';
import type { EditorProps } from '../nouns/layout';

const PAYOUT: Parts = {
  traffic_source_id: { label: 'For this source', help: 'Empty: for all sources.' },
  payout_type: { label: 'Pays', help: 'A fixed amount, or a percentage of what the buyer pays.' },
  amount: { label: 'Amount', help: 'Dollars, or percent.' },
  paid_for: {
    label: 'For',
    help: 'A call that the buyer pays for, or one that lasted long enough.',
  },
  duration: {
    label: 'That lasted',
    unit: 'seconds',
    when: (part) => part.paid_for === 'duration',
  },
  duplicate_timeframe: {
    label: 'Once per caller in',
    unit: 'seconds',
    help: '86,400 is a day, 604,800 a week.',
  },
};

/** The amount is for a person to say. */
const FRESH = { payout_type: 'fixed', paid_for: 'buyer_conversion' };

/** Payments to traffic sources, in the order in which they are tried. */
export const Payouts = (props: EditorProps) => (
  <ListEditor {...props} parts={PAYOUT} entry="payout" fresh={FRESH} />
);
