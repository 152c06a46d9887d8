import { findNamed, type Reference, type Table } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Call } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { fireWebhook } from './fire-manually';

const LOGS = 'webhook_logs g WHERE g.company_id = t.company_id AND g.webhook_manual_fire_id = t.id';
const SUBJECT = `CASE
      WHEN t.lead_id IS NOT NULL THEN 'for lead ' || t.lead_id
      WHEN t.call_id IS NOT NULL THEN 'for call ' || t.call_id
      WHEN t.buyer_conversion_id IS NOT NULL THEN 'for conversion ' || t.buyer_conversion_id
    END`;

const manualFire = noun({
  schema: 'WebhookManualFire',
  singular: 'webhook_manual_fire',
  plural: 'webhook_manual_fires',
  search: ['name'],
  computed: {
    routes_edit_path: 'NULL::text',
    context_menu_name: `nullif(concat_ws(' ', t.name, ${SUBJECT}), '')`,
    webhook_log_ids: `ARRAY(SELECT g.id FROM ${LOGS} ORDER BY g.id)`,
    lead_log_ids: `ARRAY(
      SELECT g.lead_log_id
      FROM ${LOGS} AND g.lead_log_id IS NOT NULL
      ORDER BY g.lead_log_id
    )`,
  },
});
export const { projection } = manualFire;

export const webhookManualFires = (deps: Deps) =>
  manualFire.handlers(deps, {
    unsaved: async ({ db, query }) => {
      const { lead_id, call_id, ...times } = query as Call<'newWebhookManualFire'>['query'];
      return {
        lead_id: await findId(db, 'leads', lead_id, 'lead_id'),
        call_id: await findId(db, 'calls', call_id, 'call_id'),
        created_at: times.created_at || null,
        updated_at: times.updated_at || null,
      };
    },
    insert: ({ tx, fields, now }) => {
      const { time_zone, ...body } = fields;
      // Needed only to parse the times.
      void time_zone;
      return fireWebhook(tx, body, now);
    },
  });

async function findId(
  db: Db,
  table: Table,
  reference: Reference | null | undefined,
  field: string,
): Promise<number | null> {
  return reference === undefined || reference === null || reference === ''
    ? null
    : Number(await findNamed(db, table, { reference, field }));
}
