import { useState } from 'preact/hooks';
import { findNoun } from '../contract';
import { searchReferences, type Choice } from '../form/references';
import { duration, sentence } from '../format';
import { useLive, useLoaded } from '../loading';
import { mayTestCalls } from '../noun/access';
import { CallBadges } from '../parts/call-badges';
import { linkTo, useRoute } from '../route';
import { useSession, type Session } from '../session';
import type { TableLayout } from '../table/columns';
import { DataTable } from '../table/data-table';
import { PARTNER_TITLES, seesOnly } from '../visible-contract';

const CALLS: TableLayout = {
  noun: 'calls',
  words: { singular: 'call', plural: 'calls' },
  title: ({ id }) => `Call ${String(id)}`,
  order: 'created_at',
  labels: {
    buyer_converted: 'Paid',
    offer_converted: 'Source is paid',
    either_converted: 'Paid, or its source is',
    sub_id: 'Sub-ID',
    no_buyer: 'No buyer took it',
    in_progress: 'Under way',
    sandbox: 'In the sandbox',
    token_key: 'Token',
    token_value: 'Value of the token',
    category: 'Direction',
    number_id: 'Number called',
    unbilled_reason: 'Why it was not paid',
    caller_number: 'Caller',
  },
  columns: [
    { name: 'created_at', title: 'When' },
    'caller_number',
    { name: 'number_called', title: 'Called', isHidden: true },
    'offer',
    { name: 'traffic_source', title: 'Source' },
    'buyer',
    {
      name: 'status',
      show: (call) => <CallBadges call={call} />,
      needs: [
        'sandbox',
        'buyer_converted',
        'traffic_source_converted',
        'unbilled_reason',
        'category',
      ],
    },
    {
      name: 'total_duration',
      title: 'Duration',
      show: (call) => duration(call.total_duration as number | null),
    },
    'revenue',
    'payout',
    {
      name: 'unbilled_reason',
      show: ({ unbilled_reason: reason }) => (reason ? sentence(String(reason)) : ''),
      isHidden: true,
    },
  ],
  hiddenFilters: ['id_from', 'id_to'],
};

/** A partner's table says what the partner pays, or is paid. */
function toPartnerLayout(me: Session['me']): TableLayout {
  const { revenue, payout } = PARTNER_TITLES;
  if (seesOnly('revenue', me))
    return { ...CALLS, labels: { ...CALLS.labels, revenue, buyer_revenue: revenue } };
  if (seesOnly('payout', me))
    return { ...CALLS, labels: { ...CALLS.labels, payout, traffic_source_payout: payout } };
  return CALLS;
}

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
        layout={toPartnerLayout(me)}
        noun={findNoun(contract, 'calls')}
        version={version}
      />
    </>
  );
}

const NAMED = [
  ['buyers', 'buyer_id', 'the buyer'],
  ['offers', 'offer_id', 'the offer'],
  ['traffic_sources', 'traffic_source_id', 'the source'],
] as const;

const MAX_NAMES = 3;

/** Calls are searched by what they have; a name that was typed leads to the calls of its record. */
function NamesInSearch({ text }: { text: string }) {
  const session = useSession();
  const loaded = useLoaded(async () => {
    if (text === '' || /^[\d\s()+.-]+$/.test(text)) return [];
    const lists = await Promise.all(
      NAMED.map(async ([noun, filter, words]) => {
        const choices = await searchReferences(session, noun, text).catch((): Choice[] => []);
        return choices.slice(0, MAX_NAMES).map((choice) => ({ ...choice, filter, words }));
      }),
    );
    return lists.flat();
  }, [text]);
  if (!loaded.data || loaded.data.length === 0) return null;
  return (
    <ul class="chips" aria-label="Calls of">
      {loaded.data.map(({ id, title, filter, words }) => (
        <li key={`${filter}/${id}`}>
          <a href={linkTo('calls', null, { [filter]: id })}>
            Calls of {words} {title}
          </a>
        </li>
      ))}
    </ul>
  );
}
