import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';

// E-mails that outreach sent to leads. Read only.

export const projection = {
  schema: 'Email',
  singular: 'email',
  plural: 'emails',
  fulltext: `lower(
    coalesce(t.from_email, '') || E'\\n' || coalesce(t.to_email, '')
    || E'\\n' || coalesce(t.subject, '') || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('emails'),
    type: `'Email'`,
    routes_edit_path: 'NULL::text',
    from_email: true,
    to_email: true,
    subject: true,
    body: true,
    html: true,
    status: true,
    error_code: true,
    error_message: true,
    mailer: true,
    sandbox: `t.mailer = 'sandbox'`,
    message_id: true,
    lead_id: true,
    offer_id: true,
    schedule_id: true,
    schedule_action_id: true,
    token_values: true,
    sent_at: true,
  },
} as const satisfies Projection<'Email', 'email', 'emails'>;

export const emails = ({ clock }: Deps) =>
  ({
    listEmails: ({ query, db }) =>
      page(query, {
        db,
        now: clock(),
        projection,
        orders: CHRONOLOGICAL,
        filters: buildReferenceConditions(query, { lead_id: 'leads' }),
      }),
    showEmail: recordHandlers(projection, clock).show,
  }) satisfies Partial<Handlers>;
