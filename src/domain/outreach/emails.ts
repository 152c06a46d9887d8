import { noun } from '../../api/records/noun';

/** E-mails that outreach sent to leads. Read only. */
export const email = noun({
  schema: 'Email',
  singular: 'email',
  plural: 'emails',
  search: ['from_email', 'to_email', 'subject', 'external_record_id'],
  computed: { routes_edit_path: 'NULL::text', sandbox: `t.mailer = 'sandbox'` },
});
export const { projection } = email;
