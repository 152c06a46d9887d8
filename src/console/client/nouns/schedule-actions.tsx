import { Filters } from '../editors/filters';
import { ACTION_TITLES, isFieldOfKind, type ActionType } from '../views/timeline/steps';
import { KindChoice, WaitChoice } from '../views/timeline/step-controls';
import { noun, type FieldLayout, type GroupLayout } from './layout';

const TOKENS =
  'Write [first_name]{there} or {{zip}} for what is known of the lead; the word in braces stands in where it is not.';

const kindField = (layout: FieldLayout): FieldLayout => ({
  ...layout,
  when: (inputs) => isFieldOfKind(layout.field, inputs),
});

const isKind =
  (...kinds: ActionType[]): NonNullable<GroupLayout['when']> =>
  ({ action_type }) =>
    kinds.includes(action_type as ActionType);

export const scheduleActions = noun({
  noun: 'schedule_actions',
  words: { singular: 'step', plural: 'steps' },
  about: 'A step is done for each lead that reaches it.',
  title: ({ name, action_type }) =>
    (name as string | null) ?? ACTION_TITLES[action_type as ActionType],
  groups: [
    {
      title: 'Step',
      fields: [{ field: 'action_type', label: 'Kind', editor: KindChoice, help: '' }],
    },
    {
      title: 'Call',
      when: isKind('dial'),
      fields: [
        kindField({
          field: 'connect_to',
          label: 'Connect the lead to',
          placeholder: 'The buyers of the offer',
          help: 'A number or SIP address. Left empty, the call is routed to the buyers of the offer.',
        }),
        kindField({
          field: 'only_when_buyer_available',
          label: 'Call only while a buyer would take it',
          help: 'Otherwise the lead is not called, and its history says why.',
        }),
        kindField({
          field: 'timeout_seconds',
          label: 'Rings for',
          unit: 'seconds',
          help: '30 if empty.',
        }),
        kindField({
          field: 'machine_action',
          label: 'At an answering machine',
          help: 'Hang up, leave a message, or go on as with a person. Empty: hang up.',
        }),
        kindField({
          field: 'machine_message',
          label: 'Message for the machine',
          isWide: true,
          help: `The text that is said, or the address of a recording. ${TOKENS}`,
        }),
      ],
    },
    {
      title: 'How long',
      when: isKind('wait'),
      editor: WaitChoice,
      fields: ['wait_amount', 'wait_unit', 'wait_until'],
    },
    {
      title: 'Message',
      when: isKind('sms', 'email', 'webhook'),
      fields: [
        kindField({ field: 'subject', label: 'Subject', isWide: true, help: '' }),
        kindField({
          field: 'url',
          label: 'Address',
          isWide: true,
          placeholder: 'https://',
          help: 'Tokens in it are replaced.',
        }),
        kindField({ field: 'method', label: 'Method', help: 'Post, if empty.' }),
        kindField({ field: 'body', label: 'Text', isWide: true, help: TOKENS }),
        kindField({ field: 'html', label: 'The text is HTML', help: '' }),
        kindField({
          field: 'from_email',
          label: 'From',
          help: 'Left empty, the sender of the schedule.',
        }),
        kindField({ field: 'headers', label: 'Headers', help: 'Sent with the request.' }),
      ],
    },
    {
      title: 'Where to',
      when: isKind('move_to_schedule'),
      fields: [kindField({ field: 'to_schedule_id', label: 'Schedule', help: '' })],
    },
    {
      title: 'Name and filters',
      fields: [
        { field: 'name', label: 'Name', help: 'Shown in the timelines of leads.', isWide: true },
        {
          field: 'token_filter_list',
          label: 'Only for leads with',
          help: 'The step is skipped for a lead unless all of these match.',
          editor: Filters,
        },
      ],
    },
  ],
  // Where a step is, is decided by where it is added and moved.
  hidden: ['schedule_id', 'position', 'end_of_schedule'],
  columns: ['id'],
});
