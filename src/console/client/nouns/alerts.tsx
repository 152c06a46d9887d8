import { describeAlert as sayAlert } from '../parts/decision-words';
import { RecordName } from '../noun/record-name';
import { OpenAlerts } from '../views/alerts/open-alerts';
import { ALERT_KINDS } from './alert-words';
import type { Json } from '../transport';
import { noun } from './layout';
import { stateColumn, type State } from './states';

const describeAlert = ({ ended_at: ended }: Json): State =>
  ended === null ? { text: 'open', tone: 'bad' } : { text: 'ended', tone: 'plain' };

export const alerts = noun({
  noun: 'alerts',
  words: { singular: 'alert', plural: 'alerts' },
  about: 'The times in which something was wrong, by your alert rules.',
  title: ({ message }) => sayAlert(String(message)),
  groups: [],
  columns: [
    {
      name: 'message',
      title: 'What was wrong',
      show: ({ message }) => sayAlert(String(message)),
    },
    stateColumn('ended_at', describeAlert),
    { name: 'created_at', title: 'Began' },
    { name: 'kind', title: 'Kind', show: ({ kind }) => ALERT_KINDS[String(kind)] },
    {
      name: 'alert_rule_id',
      title: 'Rule',
      show: ({ alert_rule_id: id }) => <RecordName noun="alert_rules" id={id} />,
    },
    { name: 'value', title: 'Measured', isHidden: true },
    { name: 'threshold', title: 'Limit', isHidden: true },
  ],
  order: 'created_at',
  listPanels: [OpenAlerts],
});
