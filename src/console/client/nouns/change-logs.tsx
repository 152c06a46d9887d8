import { sentence } from '../format';
import { RecordName } from '../noun/record-name';
import { Badge, type Tone } from '../parts/basics';
import { Changes } from '../views/account/changes';
import type { Json } from '../transport';
import { noun } from './layout';

const TONES: Readonly<Record<string, Tone>> = { create: 'good', delete: 'bad' };
const ACTIONS: Readonly<Record<string, string>> = {
  create: 'made',
  update: 'changed',
  delete: 'deleted',
};

/** Records whose name in the API is not that of the trade. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  AccessControlList: 'Team',
  AccessToken: 'Key',
  TrafficSource: 'Source',
  PhoneNumber: 'Number',
  ScheduleAction: 'Step',
};

/** `OutgoingWebhook` as `Outgoing webhook`. */
const splitType = (type: string): string =>
  TYPE_WORDS[type] ?? sentence(type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());

const describeRecord = ({ record_type: type, record_id: id }: Json): string =>
  id === null ? splitType(String(type)) : `${splitType(String(type))} ${String(id)}`;

/** `AgentStatus` as `agent_statuses`: the noun of the records of a type. */
const toNounName = (type: string): string =>
  `${type.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()}${type.endsWith('s') ? 'es' : 's'}`;

/** The record by its name, with a link to it while there is such a record. */
function ChangedRecord({ record_type: type, record_id: id, action }: Json) {
  const words = splitType(String(type));
  if (id === null) return <>{words}</>;
  const noun = toNounName(String(type));
  return (
    <>
      {words} <RecordName noun={noun} id={id} isPlain={action === 'delete'} />
    </>
  );
}

export const changeLogs = noun({
  noun: 'change_logs',
  words: { singular: 'change', plural: 'changes' },
  about: 'Who changed what, when, and what it was before. Secrets are never in it.',
  title: describeRecord,
  groups: [],
  columns: [
    { name: 'created_at', title: 'When' },
    {
      name: 'record_type',
      title: 'What',
      show: (entry) => <ChangedRecord {...entry} />,
      needs: ['record_id'],
    },
    {
      name: 'action',
      title: 'Was',
      show: ({ action }) => (
        <Badge tone={TONES[String(action)] ?? 'plain'}>{ACTIONS[String(action)]}</Badge>
      ),
    },
    {
      name: 'changes',
      title: 'From and to',
      show: ({ changes }) => <Changes changes={changes} />,
    },
    {
      name: 'user_id',
      title: 'By',
      show: ({ user_id: id, credentials }) =>
        id === null ? String(credentials) : <RecordName noun="users" id={id} />,
      needs: ['credentials'],
    },
    { name: 'ip', title: 'Address', isHidden: true },
    { name: 'request_id', title: 'Request', isHidden: true },
  ],
  order: 'created_at',
});
