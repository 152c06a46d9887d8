import { noun } from '../nouns/layout';

/** The fields of a lead that people change. */
export const LEAD_FIELDS = noun({
  noun: 'leads',
  words: { singular: 'lead', plural: 'leads' },
  about: '',
  title: ({ id }) => `Lead ${String(id)}`,
  columns: [],
  groups: [
    {
      title: 'Change',
      fields: [
        { field: 'email', label: 'E-mail' },
        { field: 'next_action_at', label: 'Next action at' },
        { field: 'schedule_callback_at', label: 'Call back at' },
        { field: 'lead_priority', label: 'Priority', help: 'Lower goes first.' },
        { field: 'hours_to_expire', label: 'Leaves the schedule after', unit: 'hours' },
        { field: 'max_contact_attempts', label: 'At most this many attempts' },
        { field: 'traffic_source_id', label: 'Source' },
        { field: 'sub_id', label: 'Sub-ID' },
        { field: 'data', label: 'Tokens', isWide: true },
      ],
    },
  ],
});
