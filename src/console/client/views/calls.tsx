import { useState } from 'preact/hooks';
import { layOutCalls } from '../calls/calls-table';
import { describeSearch, NamesInSearch } from '../calls/names-in-search';
import { findNoun } from '../contract';
import { useLive } from '../loading';
import { mayTestCalls } from '../noun/access';
import { linkTo, useRoute } from '../route';
import { useSession } from '../session';
import { DataTable } from '../table/data-table';

/** All calls, found by number, buyer, offer, source, state, token or period. */
export function CallsView() {
  const session = useSession();
  const { contract, me } = session;
  const { query } = useRoute();
  const [version, setVersion] = useState(0);
  const [hasNews, setNews] = useState(false);
  // The first page follows the calls; a later one would move under the eyes of its reader.
  const isFirst = !query.has('page');
  const reload = () => {
    setNews(false);
    setVersion((before) => before + 1);
  };
  useLive(
    ({ kind }) => kind === 'call',
    () => (isFirst ? reload() : setNews(true)),
  );
  return (
    <>
      <div class="title">
        <h1>Calls</h1>
        {mayTestCalls(session) && (
          <a class="button" href={linkTo('test-call')}>
            Test call
          </a>
        )}
      </div>
      <NamesInSearch text={query.get('fulltext') ?? ''} />
      {hasNews && (
        <p role="status">
          There are newer calls.{' '}
          <button type="button" onClick={reload}>
            Load this page again
          </button>
        </p>
      )}
      <DataTable
        layout={{ ...layOutCalls(me), searches: describeSearch(session) }}
        noun={findNoun(contract, 'calls')}
        version={version}
      />
    </>
  );
}
