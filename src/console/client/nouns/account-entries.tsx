import type { ComponentChild } from 'preact';
import { Facts, Panel } from '../parts/basics';
import { dayTime, dollars, text } from '../format';
import { RecordName } from '../noun/record-name';
import { linkTo } from '../route';
import type { Json } from '../transport';
import { AccountName } from '../views/money/account-name';
import { ENTRY_KINDS } from '../views/money/words';
import { noun, type PanelProps } from './layout';

const describeKind = ({ kind }: Json): string =>
  ENTRY_KINDS[String(kind) as keyof typeof ENTRY_KINDS];

const showCall = ({ call_id: id }: Json) =>
  id === null ? '' : <a href={linkTo('calls', String(id))}>{String(id)}</a>;

const showUser = ({ user_id: id }: Json) =>
  id === null ? '' : <RecordName noun="users" id={id} />;

function EntryPanel({ record }: PanelProps) {
  const facts: [string, ComponentChild][] = [
    ['Account', <AccountName record={record} />],
    ['Kind', describeKind(record)],
    ['Amount', dollars(record.amount as number)],
    ['When', dayTime(record.created_at as string)],
    ['Note', text(record.note as string | null)],
  ];
  if (record.call_id !== null) facts.push(['Call', showCall(record)]);
  if (record.user_id !== null) facts.push(['Entered by', showUser(record)]);
  return (
    <Panel title="Entry">
      <Facts facts={facts} />
    </Panel>
  );
}

export const accountEntries = noun({
  noun: 'account_entries',
  words: { singular: 'entry', plural: 'entries' },
  about:
    'What buyers have paid in and pay for calls, what sources have earned and were paid. Deposits and payouts are entered at the accounts.',
  title: (record) => `${describeKind(record)} of ${dollars(record.amount as number)}`,
  groups: [],
  hidden: ['buyer_id', 'traffic_source_id', 'kind', 'amount', 'note'],
  columns: [
    { name: 'created_at', title: 'When' },
    {
      name: 'buyer_id',
      title: 'Account',
      show: (record) => <AccountName record={record} />,
      needs: ['traffic_source_id'],
    },
    { name: 'kind', title: 'Kind', show: describeKind },
    { name: 'amount', title: 'Amount' },
    { name: 'note', title: 'Note' },
    { name: 'call_id', title: 'Call', show: showCall },
    { name: 'user_id', title: 'Entered by', show: showUser, isHidden: true },
  ],
  order: 'created_at',
  panels: [EntryPanel],
});
