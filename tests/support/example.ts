import { contract, type Operation } from '../../src/platform/contract/contract';
import { addNumber } from '../../src/domain/numbers/add-number';
import {
  exampleBody,
  findExample,
  buildForm,
  hasFile,
  buildNumber,
  readResource,
  findTable,
  buildVanityUri,
} from './example-bodies';
import { sendAs, type Sender, type SendOptions } from './example-sender';
import type { Api, Company, World } from './world';

/** One record of each resource, and how each path parameter names it. */
export interface Fixture {
  ids: Record<string, number>;
  /** The contract's example of an operation's body, which references records of this fixture. */
  body(operation: Operation): Record<string, unknown> | undefined;
  path(operation: Operation): string;
  /** Sends the contract's example of an operation, with the credentials it asks for. */
  send(operation: Operation, more?: SendOptions, api?: Api): ReturnType<Api>;
}

const LEAD_NUMBER = '+13105550123';

/** Creates one record of each resource from the contract's examples. */
export async function createFixture(world: World, company = world.company): Promise<Fixture> {
  const ids: Record<string, number> = {};
  await addOwnNumber(world, company);
  const sender = { world, company, tokens: await createTokens(world, company) };
  ids.users = sender.tokens.user_id;
  const body = (operation: Operation) => exampleBody(operation, ids, company);
  const path = (operation: Operation) => {
    const values = pathValues(operation, ids, sender);
    return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '1');
  };
  const send: Fixture['send'] = (operation, more = {}, by = company.api) =>
    sendAs(sender, operation, { path: path(operation), body: body(operation), more, by });
  const fixture = { ids, body, path, send };
  await createRecords(fixture, sender);
  await insertRecords(world, company, ids);
  return fixture;
}

async function addOwnNumber({ deps }: World, company: Company): Promise<void> {
  const owned = {
    phone_number: `+${buildNumber(company)}`,
    country: 'US',
    toll_free: false,
    carrier: 'sandbox',
    carrier_number_id: null,
  } as const;
  await deps.tenants.of(company.id).transaction((tx) => addNumber(tx, owned, deps.clock()));
}

/** A user with a token; the tokens of lead and webhook come with their records. */
async function createTokens(world: World, company: Company): Promise<Sender['tokens']> {
  const [user] = await world.sql<{ id: string }>(
    `INSERT INTO users (company_id, uuid, email, name)
    VALUES ($1, gen_random_uuid(), 'agent@example.com', 'An agent')
    RETURNING id`,
    [company.id],
  );
  const agentToken = await world.credentials(company, [], {
    kind: 'user_token',
    superuser: true,
    user_email: 'agent@example.com',
  });
  return { lead_token: '', webhook_token: '', agent_token: agentToken, user_id: Number(user!.id) };
}

const pathValues = (
  operation: Operation,
  ids: Record<string, number>,
  { company, tokens }: Sender,
): Record<string, string> => ({
  id: String(ids[readResource(operation)] ?? ids[findTable(operation)]),
  user_buyer_id: String(findExample('BuyerCreate').user_buyer_id),
  uuid: String(ids[findTable(operation)]),
  switch: String(ids.switches),
  collection: 'route_by_type',
  caller_id: LEAD_NUMBER,
  caller_number: LEAD_NUMBER,
  vanity_uri: buildVanityUri(company),
  lead_token: tokens.lead_token,
});

/** Sends every operation that creates a record. */
async function createRecords(fixture: Fixture, { company, tokens }: Sender): Promise<void> {
  const { ids, send } = fixture;
  const needsToken = ({ credentials }: Operation) => Number(credentials !== 'account');
  const creates = contract.operations
    .filter(({ method, path }) => method === 'post' && path.split('/').length === 4)
    // A lead needs the token of its owner first.
    .toSorted((a, b) => needsToken(a) - needsToken(b));
  for (const operation of creates) {
    const table = findTable(operation);
    const { lead_token } = tokens;
    const query = operation.credentials === 'lead_token' ? { query: { lead_token } } : {};
    // The file has telephone numbers, which are no ZIP codes.
    const res =
      hasFile(operation) && table !== 'value_lists'
        ? await company.api('post', operation.path, { form: buildForm(operation) })
        : await send(operation, query);
    const record = res.body[res.body.metadata?.root];
    if (!record) throw new Error(`${operation.id}: ${res.text}`);
    // Two operations create calls: the first, of an inbound call, counts.
    ids[table] ??= record.id;
    // Value lists and ZIP lists are of one table, and one record cannot be deleted twice.
    if (readResource(operation) === 'zip_lists') ids.zip_lists = record.id;
    if (table === 'schedule_actions')
      await company.api('post', 'schedule_actions', {
        body: { schedule_id: ids.schedules, action_type: 'dial', connect_to: '+13105550199' },
      });
    if (table === 'schedules') tokens.lead_token = record.lead_token;
    if (table === 'inbound_webhooks') tokens.webhook_token = res.body.auth_token;
  }
  for (const id of ['blockContacts', 'receiveTextMessage', 'storeRecording'] as const)
    await send(contract.operations.find((operation) => operation.id === id)!);
}

/** Inserts of what no operation creates: $1 is the company, then come the ids of the parents. */
const INSERTS: { text: string; parents: string[] }[] = [
  {
    text: `INSERT INTO emails (
      company_id, uuid, from_email, to_email, subject, body, html, status, mailer
    ) VALUES (
      $1, gen_random_uuid(), 'a@b.example', 'c@d.example', 'Hello', 'Hi', false, 'sent', 'sandbox'
    )`,
    parents: [],
  },
  {
    text: `INSERT INTO pings (
      company_id, uuid, created_at, inbound_webhook_id, offer_id, caller_number, token_values,
      buyer_ids, expires_at
    ) VALUES ($1, gen_random_uuid(), now(), $2, $3, 13105550123, '{}', '{}', now())`,
    parents: ['inbound_webhooks', 'offers'],
  },
  {
    text: `INSERT INTO conversions (company_id, uuid, call_id, buyer_id, revenue)
      VALUES ($1, gen_random_uuid(), $2, $3, 0)`,
    parents: ['calls', 'buyers'],
  },
  {
    text: `WITH delivery AS (
        SELECT * FROM webhook_deliveries WHERE company_id = $1 ORDER BY id LIMIT 1
      )
      INSERT INTO webhook_logs (
        company_id, uuid, created_at, outgoing_webhook_id, webhook_delivery_id, trigger_type,
        event_id, attempt, request_headers, started_at, duration, success
      )
      SELECT
        $1, gen_random_uuid(), now(), d.outgoing_webhook_id, d.id, d.trigger_type,
        d.uuid, 1, '{}', now(), 5, false
      FROM delivery d`,
    parents: [],
  },
  {
    text: `INSERT INTO alerts (company_id, created_at, alert_rule_id, kind, subject, message)
      VALUES ($1, now(), $2, 'no_calls', 'company', 'No call has come in for an hour.')`,
    parents: ['alert_rules'],
  },
  {
    text: 'UPDATE calls SET switch_id = $2 WHERE company_id = $1',
    parents: ['switches'],
  },
  {
    text: `WITH numbered AS (
        UPDATE switches SET last_command_id = id WHERE company_id = $1 AND id = $2
      )
      INSERT INTO switch_commands (company_id, switch_id, command_id, expires_at, call_id, command)
      VALUES ($1, $2, $2, now() + interval '1 day', $3, 'refresh')`,
    parents: ['switches', 'calls'],
  },
  {
    text: `INSERT INTO record_counts (company_id, resource, slot, n)
      VALUES ($1, 'webhook_logs', 0, 1)`,
    parents: [],
  },
];
const INSERTED = [
  'contacts',
  'text_messages',
  'emails',
  'pings',
  'conversions',
  'webhook_logs',
  'alerts',
];

async function insertRecords(
  { sql }: World,
  { id }: Company,
  ids: Record<string, number>,
): Promise<void> {
  for (const { text, parents } of INSERTS)
    await sql(text, [id, ...parents.map((table) => ids[table])]);
  for (const table of [...INSERTED, 'change_logs']) {
    const [first] = await sql<{ id: string }>(
      `SELECT id FROM ${table} WHERE company_id = $1 ORDER BY id LIMIT 1`,
      [id],
    );
    ids[table] = Number(first!.id);
  }
}
