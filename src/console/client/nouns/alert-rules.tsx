import { WeekEditor } from '../editors/week-editor';
import { wordedChoice } from '../editors/worded-choice';
import { RuleState } from '../views/alerts/rule-state';
import { ALERT_KINDS, isFieldOfAlert } from './alert-words';
import type { Json } from '../transport';
import { noun, type FieldLayout } from './layout';
import { describePaused, stateColumn, type State } from './states';

const kindField = (layout: FieldLayout): FieldLayout => ({
  ...layout,
  isClearedWhenHidden: true,
  when: (inputs) => isFieldOfAlert(layout.field, inputs),
});

const describeRule = (rule: Json): State => {
  const open = Number(rule.open_alerts_count);
  if (open > 0) return { text: `${open} open`, tone: 'bad' };
  return describePaused(rule);
};

export const alertRules = noun({
  noun: 'alert_rules',
  words: { singular: 'alert rule', plural: 'alert rules' },
  about:
    'Says by mail and webhook when something is wrong, once when it begins and once when it ends.',
  title: ({ name, id }) => (name as string | null) ?? `Rule ${String(id)}`,
  groups: [
    {
      title: 'Rule',
      fields: [
        { field: 'name', help: 'The subject of its mails begins with it.' },
        {
          field: 'kind',
          label: 'Alert when',
          editor: wordedChoice(ALERT_KINDS),
          help: 'Checked every fifteen seconds.',
        },
      ],
    },
    {
      title: 'From when on it is wrong',
      fields: [
        kindField({
          field: 'percent',
          label: 'Percent',
          unit: '%',
          isRequired: true,
          help: 'Of the cap that is used, or of the calls that are connected.',
        }),
        kindField({
          field: 'minutes',
          label: 'Within the last',
          unit: 'minutes',
          isRequired: true,
          help: '',
        }),
        kindField({
          field: 'count',
          label: 'At least this many',
          unit: 'calls and texts',
          isRequired: true,
          help: '',
        }),
        kindField({
          field: 'min_calls',
          label: 'With at least',
          unit: 'calls',
          help: 'With fewer nothing is said. Empty: 10.',
        }),
        kindField({
          field: 'amount',
          label: 'Balance below',
          help: 'Empty: the limit of the buyer itself.',
        }),
      ],
    },
    {
      title: 'Watch only',
      help: 'With none of these, everything is watched, each for itself.',
      fields: [
        kindField({ field: 'buyer_id', label: 'One buyer', help: '' }),
        kindField({ field: 'buyer_group_id', label: 'One group', help: '' }),
        kindField({ field: 'traffic_source_id', label: 'One source', help: '' }),
        kindField({ field: 'offer_id', label: 'One offer', help: '' }),
      ],
    },
    {
      title: 'Who is mailed',
      fields: [
        {
          field: 'emails',
          label: 'Addresses',
          help: 'A new address first gets a link by which it agrees to this.',
        },
      ],
    },
    {
      title: 'When it is watched',
      isClosed: true,
      fields: [
        { field: 'time_zone', help: '' },
        {
          field: 'schedule',
          label: 'Hours',
          editor: WeekEditor,
          help: 'Outside of these, alerts neither begin nor end. Nothing marked: always.',
        },
      ],
    },
  ],
  hidden: ['paused'],
  initial: { percent: 80, minutes: 60, count: 10 },
  columns: [
    'name',
    stateColumn('paused', describeRule, ['open_alerts_count']),
    { name: 'kind', title: 'Alert when', show: ({ kind }) => ALERT_KINDS[String(kind)] },
    { name: 'emails', title: 'Mails' },
    { name: 'percent', title: 'Percent', isHidden: true },
    { name: 'minutes', title: 'Minutes', isHidden: true },
  ],
  copy: { except: [] },
  state: describeRule,
  stateNeeds: ['paused', 'open_alerts_count'],
  panels: [RuleState],
  deletion: {
    title: 'Delete',
    consequence: 'Its open alerts end without a message.',
    done: 'Deleted.',
  },
});
