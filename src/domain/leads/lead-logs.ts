import { noun } from '../../api/records/noun';

export const leadLog = noun({
  schema: 'LeadLog',
  singular: 'lead_log',
  plural: 'lead_logs',
  appendOnly: true,
  // Most logs of a submission have no message and are not in the index.
  search: 'lower(t.message)',
  // The number of buyers by reason is hidden from callers who do not see all buyers.
  limited: { message: String.raw`regexp_replace(t.message, '(would take the call): .*$', '\1')` },
  filters: { event: 't.event = {event}' },
});
export const { projection } = leadLog;
