import { noun } from '../nouns/layout';
import { DispositionSelect } from './disposition-select';

/** Notes of people about a call. Money has buttons of its own; other fields are for programs. */
export const CALL_NOTES = noun({
  noun: 'calls',
  words: { singular: 'call', plural: 'calls' },
  about: '',
  title: ({ id }) => `Call ${String(id)}`,
  columns: [],
  groups: [
    {
      title: 'Notes',
      fields: [
        { field: 'disposition_key', label: 'Disposition', editor: DispositionSelect },
        { field: 'disposition_notes', label: 'Notes' },
        { field: 'agent_id', label: 'Agent' },
        { field: 'quality_assurance_name', label: 'Reviewed by' },
        { field: 'post_call_tokens', label: 'Add tokens', isWide: true },
      ],
    },
  ],
});
