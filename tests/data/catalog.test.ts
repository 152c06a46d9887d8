import { callProjection } from '../../src/domain/calls/columns';
import { projection as agentMessages } from '../../src/domain/agents/agent-messages';
import { projection as agentStatuses } from '../../src/domain/agents/agent-statuses';
import { disposition } from '../../src/domain/calls/dispositions';
import { buyerFleet } from '../../src/domain/buyers/buyer-fleets';
import { projection as buyerGroups } from '../../src/domain/buyers/buyer-groups';
import { projection as buyerSuppressionFiles } from '../../src/domain/suppression/files';
import { projection as buyerSuppressions } from '../../src/domain/suppression/lists';
import { callCenter } from '../../src/domain/agents/call-centers';
import { callFilters } from '../../src/domain/calls/columns';
import { projection as inboundWebhooks } from '../../src/domain/ping-post/inbound-webhooks';
import { projection as offers } from '../../src/domain/offers/offers';
import { projection as outgoingWebhooks } from '../../src/domain/webhooks/outgoing-webhooks';
import { projection as phoneNumbers } from '../../src/domain/numbers/phone-numbers';
import { projection as schedules } from '../../src/domain/schedules/schedules';
import { projection as trafficSources } from '../../src/domain/offers/traffic-sources';
import { projection as valueLists } from '../../src/domain/value-lists/value-lists';
import { projection as manualFires } from '../../src/domain/webhooks/manual-fires';
import { projection as buyers } from '../../src/domain/buyers/buyers-columns';
import { useWorld } from '../support/use-world';

const world = useWorld();
const { create } = world;

/** Tables that belong to no company, or must be found without knowing it. */
const LOOKUPS = [
  'companies',
  'installations',
  'processes',
  'loop_faults',
  'sign_in_attempts',
  'credential_lookups',
  'lead_tokens',
  'number_lookups',
  'inbound_webhook_lookups',
  '_prisma_migrations',
];

const KEYS = `
  SELECT c.relname AS table, i.relname AS index, x.indisprimary AS primary,
    (
      SELECT array_agg(a.attname::text ORDER BY k.n)
      FROM unnest(x.indkey) WITH ORDINALITY AS k(attnum, n)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
    ) AS columns
  FROM pg_index x
  JOIN pg_class c ON c.oid = x.indrelid
  JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND x.indisunique`;
const FOREIGN_KEYS = `
  SELECT c.relname AS table, f.conname AS index, t.relname AS target,
    (
      SELECT array_agg(a.attname::text) FROM unnest(f.conkey) k
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k
    ) AS columns
  FROM pg_constraint f
  JOIN pg_class c ON c.oid = f.conrelid
  JOIN pg_class t ON t.oid = f.confrelid
  WHERE f.contype = 'f' AND f.connamespace = 'public'::regnamespace`;

interface Key {
  table: string;
  index: string;
  primary: boolean;
  target?: string;
  columns: string[];
}

test('every primary key and unique index of a tenant table begins with company_id', async () => {
  const keys = (await world.sql<Key>(KEYS)).filter(({ table }) => !LOOKUPS.includes(table));
  expect(keys.length).toBeGreaterThan(15);
  expect(
    keys.filter(({ columns }) => columns[0] !== 'company_id').map(({ index }) => index),
  ).toEqual([]);
});

test('every foreign key of a tenant table carries company_id', async () => {
  const keys = await world.sql<Key>(FOREIGN_KEYS);
  expect(keys.length).toBeGreaterThan(10);
  expect(
    keys.filter(({ columns }) => !columns.includes('company_id')).map(({ index }) => index),
  ).toEqual([]);
});

test('every table but the lookups has a company_id that is never null', async () => {
  const rows = await world.sql<{
    table: string;
    nullable: string | null;
  }>(`
    SELECT t.table_name AS table, c.is_nullable AS nullable
    FROM information_schema.tables t
    LEFT JOIN information_schema.columns c
      ON c.table_schema = t.table_schema AND c.table_name = t.table_name
        AND c.column_name = 'company_id'
    WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE'`);
  expect(
    rows.filter(({ table, nullable }) => !LOOKUPS.includes(table) && nullable !== 'NO'),
  ).toEqual([]);
});

test('the database refuses a reference into another company by itself', async () => {
  const otherCompany = await world.addCompany();
  const { body } = await otherCompany.api('post', 'buyer_fleets', {
    body: { name: 'Theirs', user_fleet_id: 'theirs' },
  });
  const mine = await world.company.api('post', 'buyers', { body: { name: 'Mine' } });
  const move = world.sql(
    'UPDATE buyers SET buyer_fleet_id = $1 WHERE company_id = $2 AND id = $3',
    [body.buyer_fleet.id, world.company.id, mine.body.buyer.id],
  );
  await expect(move).rejects.toThrow(/foreign key/);
});

test.each([
  [
    'buyers',
    buyers.fulltext,
    'name, buyer_type, time_zone, timeout_seconds, record_calls, press_one_to_accept, ' +
      'route_by_type, tier, weight, display_caller_id_type',
    "md5(i::text), 'buyer', 'UTC', 20, false, false, 'tier', 1, 1, 'display_caller_id'",
  ],
  [
    'buyer_groups',
    buyerGroups.fulltext,
    'name, time_zone, tier, weight, dial_buyers_type',
    "md5(i::text), 'UTC', 1, 1, 'sequentially'",
  ],
  ['buyer_suppressions', buyerSuppressions.fulltext, 'name', 'md5(i::text)'],
  [
    'buyer_suppression_files',
    buyerSuppressionFiles.fulltext,
    'name, apply_block_or_unblock, status',
    "md5(i::text), 'block', 'pending'",
  ],
  ['offers', offers.fulltext, 'name, time_zone, lead_token', "md5(i::text), 'UTC', i::text"],
  [
    'schedules',
    schedules.fulltext,
    'name, time_zone, daylight_hours, business_hours, lead_token',
    "md5(i::text), 'UTC', '08:00..20:59', '[]', i::text",
  ],
  [
    'inbound_webhooks',
    inboundWebhooks.fulltext,
    'name, vanity_uri, offer_id',
    'md5(i::text), md5(i::text), $OFFER',
  ],
  ['traffic_sources', trafficSources.fulltext, 'name', 'md5(i::text)'],
  [
    'numbers',
    phoneNumbers.fulltext,
    'name, phone_number, country, carrier',
    "md5(i::text), i, 'US', 'sandbox'",
  ],
  [
    'calls',
    callProjection.fulltext,
    'direction, status, carrier, sub_id',
    "'inbound', 'completed', 'sandbox', md5(i::text)",
  ],
  ['value_lists', valueLists.fulltext, 'name, key', 'md5(i::text), i::text'],
  ['buyer_fleets', buyerFleet.projection.fulltext, 'name, user_fleet_id', 'md5(i::text), i::text'],
  ['call_centers', callCenter.projection.fulltext, 'name', 'md5(i::text)'],
  ['agent_statuses', agentStatuses.fulltext, 'key, name, is_online', 'i::text, md5(i::text), true'],
  ['dispositions', disposition.projection.fulltext, 'key, name', 'i::text, md5(i::text)'],
  ['agent_messages', agentMessages.fulltext, 'content', 'md5(i::text)'],
  [
    'outgoing_webhooks',
    outgoingWebhooks.fulltext,
    'name, owner_type, trigger_type, url, origin, method, timeout_seconds, retries',
    "md5(i::text), 'Company', 'manual', 'https://example.com', 'https://example.com', " +
      "'post', 15, 9",
  ],
  [
    'webhook_manual_fires',
    manualFires.fulltext,
    'name, outgoing_webhook_id',
    'md5(i::text), $WEBHOOK',
  ],
])(
  'a fulltext search of %s is answered by its index',
  async (table, expression, columns, pattern) => {
    const offerId = pattern.includes('$OFFER')
      ? String(await create('offers', { name: 'Offer' }))
      : '';
    const hook = { name: 'Hook', trigger_type: 'manual', url: 'https://example.com' };
    const hookId = pattern.includes('$WEBHOOK')
      ? String(await create('outgoing_webhooks', hook))
      : '';
    const values = pattern.replace('$OFFER', offerId).replace('$WEBHOOK', hookId);
    await world.sql(
      `INSERT INTO ${table} (company_id, uuid, ${columns})
        SELECT $1, gen_random_uuid(), ${values} FROM generate_series(1, 4000) i`,
      [world.company.id],
    );
    await world.sql(`VACUUM ANALYZE ${table}`);
    const plan = await world.sql(
      `EXPLAIN SELECT * FROM ${table} t
        WHERE t.company_id = ${world.company.id}::bigint AND t.deleted_at IS NULL
          AND ${expression} LIKE '%needle%'`,
    );
    expect(JSON.stringify(plan)).toContain(`${table}_fulltext_idx`);
  },
);

describe('a filter of calls that leaves few of them is answered by its index', () => {
  const {
    either_converted,
    in_progress,
    buyer_converted,
    offer_converted,
    has_recording,
    no_buyer,
  } = callFilters;
  beforeAll(async () => {
    await world.sql(
      `INSERT INTO calls (company_id, uuid, direction, status, carrier, caller_number, ended_at,
          buyer_id, token_values)
        SELECT $1, gen_random_uuid(), 'inbound', 'completed', 'sandbox', i,
          now() - i * interval '1 minute', $2, jsonb_build_object('zip', i::text)
        FROM generate_series(1, 20000) i`,
      [world.company.id, await create('buyers', { name: 'Buyer' })],
    );
    await world.sql('VACUUM ANALYZE calls');
  });

  test.each<[string, string, string[]]>([
    ['in_progress', in_progress.cases.true, ['calls_in_progress_idx']],
    ['buyer_converted', buyer_converted.cases.true, ['calls_either_converted_idx']],
    ['offer_converted', offer_converted.cases.true, ['calls_either_converted_idx']],
    ['either_converted', either_converted.cases.true, ['calls_either_converted_idx']],
    ['has_recording', has_recording.cases.true, ['calls_recorded_idx']],
    ['no_buyer', no_buyer.cases.true, ['calls_no_buyer_idx']],
    ['outbound', callFilters.category.cases.outbound, ['calls_outbound_idx']],
    [
      'status',
      callFilters.status.replace('{status}', `'failed'`),
      ['calls_company_id_status_id_idx'],
    ],
    [
      'caller_number',
      callFilters.caller_number.replace('{caller_number}', '7'),
      ['calls_company_id_caller_number_id_idx'],
    ],
    [
      'ended_at_to',
      callFilters.ended_at_to.replace('{ended_at_to}', `'2020-01-01'`),
      ['calls_company_id_ended_at_id_idx'],
    ],
    [
      'a token',
      callFilters.token_like.replaceAll('{token_like}', `'[{"zip":"7"},{"zip":7}]'`),
      ['calls_token_values_idx'],
    ],
  ])('%s', async (_name, condition, indexes) => {
    const plan = JSON.stringify(
      await world.sql(
        `EXPLAIN SELECT count(*) FROM calls t
          WHERE t.company_id = ${world.company.id}::bigint AND t.deleted_at IS NULL
            AND ${condition}`,
      ),
    );
    for (const index of indexes) expect(plan).toContain(index);
  });
});
