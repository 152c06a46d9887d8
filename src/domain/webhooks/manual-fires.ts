import type { SortKey } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { findNamed, type Reference, type Table } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { fireWebhook } from './fire-manually';

const LOGS = 'webhook_logs g WHERE g.company_id = t.company_id AND g.webhook_manual_fire_id = t.id';
const SUBJECT = `CASE
      WHEN t.lead_id IS NOT NULL THEN 'for lead ' || t.lead_id
      WHEN t.call_id IS NOT NULL THEN 'for call ' || t.call_id
      WHEN t.buyer_conversion_id IS NOT NULL THEN 'for conversion ' || t.buyer_conversion_id
    END`;

export const projection = {
  schema: 'WebhookManualFire',
  singular: 'webhook_manual_fire',
  plural: 'webhook_manual_fires',
  fulltext: `lower(coalesce(t.name, ''))`,
  columns: {
    ...commonColumns('webhook_manual_fires'),
    type: `'WebhookManualFire'`,
    routes_edit_path: 'NULL::text',
    name: true,
    context_menu_name: `nullif(concat_ws(' ', t.name, ${SUBJECT}), '')`,
    outgoing_webhook_id: true,
    buyer_conversion_id: true,
    lead_id: true,
    call_id: true,
    webhook_log_ids: `ARRAY(SELECT g.id FROM ${LOGS} ORDER BY g.id)`,
    lead_log_ids: `ARRAY(
      SELECT g.lead_log_id
      FROM ${LOGS} AND g.lead_log_id IS NOT NULL
      ORDER BY g.lead_log_id
    )`,
  },
} as const satisfies Projection<'WebhookManualFire', 'webhook_manual_fire', 'webhook_manual_fires'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text', nullable: true },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

export const webhookManualFires = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listWebhookManualFires: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders }),
    showWebhookManualFire: records.show,

    newWebhookManualFire: async ({ db, query: { lead_id, call_id, created_at, updated_at } }) => {
      const references = {
        lead_id: await findId(db, 'leads', lead_id, 'lead_id'),
        call_id: await findId(db, 'calls', call_id, 'call_id'),
      };
      return records.showUnsaved(
        { db, query: {} },
        { ...references, created_at: created_at || null, updated_at: updated_at || null },
      );
    },

    createWebhookManualFire: ({ db, body: { time_zone, ...body } }) => {
      // Needed only to parse the times.
      void time_zone;
      return records.create({ db, query: {}, body }, (tx, fields, now) =>
        fireWebhook(tx, fields, now),
      );
    },
  } satisfies Partial<Handlers>;
};

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
