import { ListEditor, type Parts } from '../form/field';
import type { EditorProps } from '../nouns/layout';
import { Filters } from './filters';

const PARTS: Parts = {
  on: { label: 'Starts when', help: '' },
  token_filter_list: {
    label: 'Only if all of these hold',
    help: 'Tokens of the lead, or of a call without a lead. None: always.',
    editor: Filters,
  },
};

/** The events that start a schedule, each with its filters. */
export const Triggers = (props: EditorProps) => (
  <ListEditor {...props} parts={PARTS} entry="trigger" fresh={{ on: 'lead_created' }} />
);
