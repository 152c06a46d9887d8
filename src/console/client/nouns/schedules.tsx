import { Exits } from '../editors/exits';
import { TimesInput } from '../editors/times-input';
import { Triggers } from '../editors/triggers';
import { WeekEditor } from '../editors/week-editor';
import { RecordName } from '../noun/record-name';
import { linkTo } from '../route';
import { copySteps } from '../views/timeline/copy-steps';
import { Timeline } from '../views/timeline/timeline';
import { buildTestLink } from './actions';
import { noun } from './layout';
import { describePaused, stateColumn } from './states';

export const schedules = noun({
  noun: 'schedules',
  words: { singular: 'schedule', plural: 'schedules', also: 'a drip campaign or cadence' },
  about:
    'A schedule calls, texts and mails a lead, step by step, until it converts or asks to stop.',
  next: 'Its steps are added on the next page, once it is created.',
  title: ({ name, id }) => (name as string | null) ?? `Schedule ${String(id)}`,
  groups: [
    {
      title: 'Schedule',
      fields: [
        'name',
        {
          field: 'offer_id',
          label: 'Offer',
          help: 'Its leads belong to this offer, and calls without another destination go to its buyers.',
        },
        { field: 'description', label: 'Note', isWide: true, help: '' },
      ],
    },
    {
      title: 'When it starts',
      help: 'Leads that are sent with the lead token of the schedule start it in any case.',
      fields: [{ field: 'triggers', label: 'Starts by itself', editor: Triggers, help: '' }],
    },
    {
      title: 'When it ends for a lead',
      fields: [
        { field: 'exit_on', label: 'Ends as soon as', editor: Exits, help: '' },
        {
          field: 'hours_to_expire',
          label: 'Ends after',
          unit: 'hours',
          help: 'Then the steps at the end run. Empty: it does not end by time.',
        },
        {
          field: 'max_contact_attempts',
          label: 'Ends after',
          unit: 'calls and texts',
          help: 'Then the steps at the end run. Empty: no limit.',
        },
      ],
    },
    {
      title: 'When leads are contacted',
      fields: [
        {
          field: 'time_zone',
          help: 'For its hours and for waits until a time of day; also of leads whose own zone is not known.',
        },
        {
          field: 'daylight_hours',
          label: 'Hours of the lead',
          editor: TimesInput,
          help: 'Leads are contacted within these hours where they live. Empty: 08:00–21:00.',
        },
        {
          field: 'business_hours_schedule',
          label: 'Hours of the schedule',
          editor: WeekEditor,
          help: 'Nothing marked: at any time of the week.',
        },
      ],
    },
    {
      title: 'Who is not contacted',
      isClosed: true,
      whenEmpty: 'only blocked callers, and who has opted out',
      fields: [{ field: 'buyer_suppression_ids', label: 'Suppression lists' }],
    },
    {
      title: 'E-mail and your systems',
      isClosed: true,
      fields: [
        {
          field: 'from_email',
          label: 'Sender of its e-mails',
          placeholder: 'Desk <desk@example.com>',
        },
        { field: 'user_schedule_id', label: 'Your own ID of the schedule' },
      ],
    },
  ],
  hidden: ['paused', 'reset_lead_token', 'lead_token'],
  columns: [
    'name',
    stateColumn('paused', describePaused),
    {
      name: 'offer_id',
      title: 'Offer',
      show: ({ offer_id }) => <RecordName noun="offers" id={offer_id} />,
    },
    {
      name: 'schedule_action_ids',
      title: 'Steps',
      show: ({ schedule_action_ids: ids }) => (ids as unknown[]).length,
    },
    { name: 'hours_to_expire', title: 'Ends after hours' },
    { name: 'created_at', title: 'Made' },
  ],
  actions: [
    buildTestLink('Test lead', 'leads:create', ({ id }) =>
      linkTo('test-lead', null, { schedule_id: String(id) }),
    ),
  ],
  panels: [Timeline],
  copy: { except: ['user_schedule_id'], after: copySteps },
  state: describePaused,
  stateNeeds: ['paused'],
  presets: ['offer_id'],
});
