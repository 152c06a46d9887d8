import type { Schemas } from '../../api';
import { count, dollars } from '../../format';
import type { Loaded } from '../../loading';
import { Facts, Show } from '../../parts/basics';
import { linkTo } from '../../route';
import { describePeriod } from './describe-period';
import type { Preview } from './preview';
import { TOTAL_NAMES } from './words';

type Kind = Schemas['AccountEntryKind'];

/** Says what a statement would hold, and what it would not, before it is drawn up. */
export const StatementPreview = ({ loaded }: { loaded: Loaded<Preview | undefined> }) => (
  <div role="status" aria-label="What the statement will hold">
    <Show of={loaded}>{(preview) => preview && <Contents preview={preview} />}</Show>
  </div>
);

interface ContentsProps {
  preview: Preview;
}

function Contents({ preview }: ContentsProps) {
  const { entries_count: entries, before_count: before, after_count: after } = preview;
  return (
    <>
      <h3>What it will hold</h3>
      {entries === 0 ? (
        <p class="notice warn">
          Nothing was entered on this account in this period. The statement would have no lines,
          only the balance, which stays as it was.
        </p>
      ) : (
        <Sums preview={preview} />
      )}
      <p class="quiet">
        {before > 0 &&
          `${nameEntries(before)} before this period: only in the balance it begins with. `}
        {after > 0 && `${nameEntries(after)} after it: not on this statement. `}
        Calls that nobody pays are on no statement.
      </p>
      {preview.overlapping.length > 0 && (
        <p class="notice warn">
          Some of these days are on a statement of this account already:{' '}
          {preview.overlapping.map((statement, index) => (
            <>
              {index > 0 && ', '}
              <a href={linkTo('statements', String(statement.id))}>
                Statement {String(statement.id)} ({describePeriod(statement)})
              </a>
            </>
          ))}
          . Whoever gets both sees their lines twice.
        </p>
      )}
    </>
  );
}

function Sums({ preview: { entries_count: entries, calls_count: calls, totals } }: ContentsProps) {
  if (!totals)
    return (
      <p>
        {nameEntries(entries)}: too many to add up here. The statement has their sums once it is
        drawn up.
      </p>
    );
  const sums = Object.entries(totals) as [Kind, number][];
  const change = sums.reduce((cents, [, amount]) => cents + Math.round(amount * 100), 0) / 100;
  return (
    <Facts
      facts={[
        ['Lines', `${count(entries)}, ${count(calls)} of them of calls`],
        ...sums.map(([kind, amount]): [string, string] => [TOTAL_NAMES[kind], dollars(amount)]),
        ['Changes the balance by', dollars(change)],
      ]}
    />
  );
}

const nameEntries = (entries: number): string =>
  `${count(entries)} ${entries === 1 ? 'entry' : 'entries'}`;
