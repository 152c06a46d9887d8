import { CHRONOLOGICAL } from '../../src/data/projection/list-statements';
import { projection as contacts } from '../../src/domain/leads/contacts';
import { projection as leadLogs } from '../../src/domain/leads/lead-logs';
import { projection as emails } from '../../src/domain/outreach/emails';
import { projection as textMessages } from '../../src/domain/outreach/text-messages';
import { projection as changeLogs } from '../../src/domain/people/change-logs';
import { projection as webhookLogs } from '../../src/domain/webhooks/webhook-logs';
import { useWorld } from '../support/use-world';

// Tables that grow with every lead and every request: PostgreSQL answers their text search and
// their order of time from an index, not by reading the table.

const world = useWorld();
beforeAll(async () => {
  // The rows refer to records that do not exist.
  await world.sql('SET session_replication_role = replica');
});

const CASES = [
  {
    projection: contacts,
    columns: 'uuid, caller_number, external_record_id',
    values: 'gen_random_uuid(), 13105550000 + i, md5(i::text)',
  },
  {
    projection: textMessages,
    columns: 'uuid, direction, from_number, to_number, body, status, carrier',
    values: `gen_random_uuid(), 'outbound', 1, 13105550000 + i, md5(i::text), 'sent', 'sandbox'`,
  },
  {
    projection: emails,
    columns: 'uuid, from_email, to_email, subject, body, html, status, mailer',
    values: `gen_random_uuid(), 'a@b.example', 'c@d.example', md5(i::text), 'x', false, 'sent', 's'`,
  },
  {
    projection: leadLogs,
    columns: 'lead_id, event, message',
    values: `1, 'updated', md5(i::text)`,
  },
  {
    projection: webhookLogs,
    columns:
      'uuid, outgoing_webhook_id, trigger_type, event_id, attempt, request_headers, started_at, ' +
      'duration, success, notes',
    values: `gen_random_uuid(), 1, 'manual', gen_random_uuid(), 1, '{}', now(), 5, false, md5(i::text)`,
  },
  {
    projection: changeLogs,
    columns: 'uuid, record_type, action, operation, changes, credentials, request_id',
    values: `gen_random_uuid(), 'Buyer', 'update', 'updateBuyer', '{}', md5(i::text), 'r'`,
  },
].map((testCase) => [testCase.projection.plural, testCase] as const);

test.each(CASES)('%s', async (table, { projection, columns, values }) => {
  await world.sql(
    `INSERT INTO ${table} (company_id, created_at, ${columns})
    SELECT $1, now() - i * interval '1 minute', ${values} FROM generate_series(1, 4000) i`,
    [world.company.id],
  );
  await world.sql(`VACUUM ANALYZE ${table}`);
  const living = 'appendOnly' in projection ? '' : 'AND t.deleted_at IS NULL';
  const explainPlan = async (more: string) =>
    JSON.stringify(
      await world.sql(
        `EXPLAIN SELECT t.id FROM ${table} t
        WHERE t.company_id = ${world.company.id}::bigint ${living} ${more}`,
      ),
    );
  expect(await explainPlan(`AND ${projection.fulltext} LIKE '%needle%'`)).toContain(
    `${table}_fulltext_idx`,
  );
  expect(await explainPlan(`ORDER BY ${CHRONOLOGICAL.created_at!.sql}, t.id LIMIT 26`)).toContain(
    `${table}_company_id_created_at_id_idx`,
  );
});
