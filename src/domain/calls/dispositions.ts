import { noun } from '../../api/records/noun';

/**
 * Dispositions: how calls can end for those who work on them. A change locks the disposition alone;
 * a call takes its disposition while it is locked itself, and keeps one that is deleted.
 */
export const disposition = noun({
  schema: 'Disposition',
  singular: 'disposition',
  plural: 'dispositions',
  search: ['key', 'name', 'external_record_id'],
});
