import { Badge, type Tone } from '../parts/basics';
import type { Json } from '../transport';
import type { ColumnLayout } from './layout';

// States that several nouns share.

/** A state in a word, with its color. */
export interface State {
  text: string;
  tone: Tone;
}

export const describePaused = ({ paused }: Json): State =>
  paused === true ? { text: 'paused', tone: 'warn' } : { text: 'active', tone: 'good' };

/** A column with the state of a record; `needs` are the columns that it is read from. */
export const stateColumn = (
  name: string,
  describe: (record: Json) => State | undefined,
  needs: readonly string[] = [],
): ColumnLayout => ({
  name,
  title: 'State',
  needs,
  show: (record) => {
    const state = describe(record);
    return state && <Badge tone={state.tone}>{state.text}</Badge>;
  },
});
