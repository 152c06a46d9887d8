import type { EditorProps } from '../nouns/layout';
import { Filters } from './filters';
import { ListEditor, type Parts } from '../form/field';
import { WeekEditor } from './week-editor';

const CONVERSION: Parts = {
  name: { label: 'Name', placeholder: '90 seconds' },
  conversion_type: {
    label: 'Paid when',
    help: 'duration: the call lasted long enough; postback: the buyer reports it.',
  },
  revenue: { label: 'Pays' },
  duration: {
    label: 'After',
    unit: 'seconds',
    when: (part) => part.conversion_type !== 'postback',
  },
  duplicate_timeframe: {
    label: 'Once per caller in',
    unit: 'seconds',
    help: '86,400 is a day, 604,800 a week.',
  },
  token_values: { label: 'Only for calls where', editor: Filters },
  attribution_token_values: { label: 'Adds these tokens to the call' },
  revenue_min: { label: 'Price at least' },
  revenue_max: { label: 'Price at most' },
  revenue_increment: { label: 'Price changes in steps of' },
};

const Attributes = (props: EditorProps) => (
  <ListEditor {...props} parts={CONVERSION} entry="conversion" />
);

const FRAME: Parts = {
  buyer_conversions_attributes: {
    label: 'Conversions, the first that matches counts',
    editor: Attributes,
  },
  schedule: { label: 'During these hours', editor: WeekEditor },
};

/** Prices of a buyer: time frames, each with its conversions in the order they are tried. */
export const Conversions = (props: EditorProps) => (
  <ListEditor
    {...props}
    parts={FRAME}
    entry="time frame"
    fresh={{ schedule: [], buyer_conversions_attributes: [{ duration: 90, revenue: 10 }] }}
  />
);
