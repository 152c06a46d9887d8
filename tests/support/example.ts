import { signatureOf } from '../../src/carriers/signature';
import { contract, facets, type Operation } from '../../src/contract';
import { invitationToken } from '../../src/http/auth/invitations';
import { addNumber } from '../../src/numbers/add-number';
import { TWILIO_TOKEN, type Api, type Company, type Method, type Sent, type World } from './world';

/** What a request shows of who sends it: what its operation asks for unless told otherwise. */
export interface Shown extends Sent {
  credentials?: 'own' | 'none' | 'wrong';
  method?: Method;
  path?: string;
  query?: Record<string, string | number>;
}

/** One record of each resource, and how each path parameter names it. */
export interface Fixture {
  ids: Record<string, number>;
  /** The contract's example of an operation's body, with the references it makes to records of this fixture. */
  body(operation: Operation): Record<string, unknown> | undefined;
  path(operation: Operation): string;
  /** Sends the contract's example of an operation, with the credentials it asks for. */
  send(operation: Operation, more?: Shown, api?: Api): ReturnType<Api>;
}

const exampleOf = (name: string): Record<string, unknown> =>
  contract.document.components.examples[name]?.value as Record<string, unknown>;

/** The contract's own example of an operation's body. */
export function bodyOf(operation: Operation): Record<string, unknown> | undefined {
  const ref = operation.body?.$ref;
  return ref ? structuredClone(exampleOf(ref.split('/').at(-1)!)) : undefined;
}

/** The contract's own example of a body with a file. */
export function formOf(operation: Operation): Record<string, string | Buffer> {
  const { import_file, ...fields } = exampleOf(
    operation.multipart!.$ref!.split('/').at(-1)!,
  ) as Record<string, string> & { import_file: string };
  return { ...fields, import_file: Buffer.from(import_file) };
}

const hasFile = ({ multipart }: Operation): boolean =>
  multipart !== undefined && 'import_file' in facets(multipart).properties;

/** Single records that an example names are those of the fixture. */
function withReferences(
  operation: Operation,
  ids: Record<string, number>,
): Record<string, unknown> | undefined {
  const body = bodyOf(operation);
  const properties = operation.body ? facets(operation.body).properties : {};
  for (const [field, schema] of Object.entries(properties)) {
    const target = schema['x-reference'];
    if (body && target && typeof body[field] === 'number') body[field] = ids[target];
  }
  return body;
}

/** A number of each company's own, since no two companies have the same. */
const ownNumber = ({ id }: Company) => `1213555${String(Number(id) % 100).padStart(2, '0')}00`;
const LEAD_NUMBER = '+13105550123';
/** The same for what must be unique in the installation. */
const ownVanityUri = ({ id }: Company) => `auto-partner-${id}`;

const TABLES: Record<string, string> = { phone_numbers: 'numbers', call_sessions: 'calls' };

/** The token of an invitation that the user can accept. */
async function invitationOf(
  { sql, deps }: World,
  { id: company_id }: Company,
  user_id: number,
): Promise<string> {
  await sql(
    'UPDATE users SET invitation_open = true, invited_at = now(), invitation_number = 1 WHERE company_id = $1 AND id = $2',
    [company_id, user_id],
  );
  return invitationToken({ company_id, user_id: BigInt(user_id), number: 1 }, deps.pepper);
}

/** The table of an operation's records. */
export const tableOf = ({ path }: Operation): string =>
  TABLES[path.split('/')[3]!] ?? path.split('/')[3]!;

/** What goes on for as long as it is waited for, and is for the agent of the fixture. */
const isStream = ({ id }: Operation): boolean => id === 'streamAgentMessages';

const NOWHERE = '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';
/** What the URLs say that carriers are given. */
const HOOKED: Record<string, string> = {
  key: NOWHERE,
  call: NOWHERE,
  attempt: NOWHERE,
  round: '1',
};

/** Makes one record of each resource by the contract's examples. */
export async function createFixture(world: World, company = world.company): Promise<Fixture> {
  const ids: Record<string, number> = {};
  const { api } = company;
  const number = ownNumber(company);
  const owned = {
    phone_number: `+${number}`,
    country: 'US',
    toll_free: false,
    carrier: 'sandbox',
    carrier_number_id: null,
  } as const;
  await world.deps.tenants
    .of(company.id)
    .transaction((tx) => addNumber(tx, owned, world.deps.clock()));
  const [user] = await world.sql<{ id: string }>(
    `INSERT INTO users (company_id, uuid, email, name) VALUES ($1, gen_random_uuid(), 'agent@example.com', 'An agent') RETURNING id`,
    [company.id],
  );
  ids.users = Number(user!.id);
  const agent_token = await world.credentials(company, [], {
    kind: 'user_token',
    superuser: true,
    user_email: 'agent@example.com',
  });
  let lead_token = '';
  let webhook_token = '';
  const values = (operation: Operation): Record<string, string> => ({
    id: String(ids[tableOf(operation)]),
    user_buyer_id: String(exampleOf('BuyerCreate').user_buyer_id),
    uuid: String(ids[tableOf(operation)]),
    collection: 'route_by_type',
    caller_id: LEAD_NUMBER,
    caller_number: LEAD_NUMBER,
    vanity_uri: ownVanityUri(company),
    lead_token,
  });
  const body = (operation: Operation) => {
    const made = withReferences(operation, ids);
    if (made && 'vanity_uri' in made) made.vanity_uri = ownVanityUri(company);
    if (made && operation.own_number && operation.own_number in made)
      made[operation.own_number] = `+${number}`;
    return made && operation.id === 'receiveTextMessage' ? { ...made, to: `+${number}` } : made;
  };
  const path = (operation: Operation) =>
    operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values(operation)[name] ?? '1');

  const send: Fixture['send'] = async (operation, more = {}, by = api) => {
    const {
      credentials = 'own',
      method = operation.method,
      path: at = path(operation),
      query = {},
      ...sent
    } = more;
    const content = 'body' in sent ? sent.body : body(operation);
    if (isStream(operation) && credentials === 'own' && sent.auth === undefined) {
      return by(method, at, {
        ...sent,
        query: { wait_seconds: 0, ...query },
        auth: null,
        headers: { Authorization: `Token ${agent_token}`, ...sent.headers },
      });
    }
    if (operation.credentials === 'account') {
      const auth =
        credentials === 'none'
          ? null
          : credentials === 'wrong'
            ? `${company.auth.split(':')[0]}:wrong`
            : sent.auth;
      return by(method, at, { ...sent, query, body: content, ...(auth !== undefined && { auth }) });
    }
    if (operation.credentials === 'lead_token') {
      const shown = credentials === 'wrong' ? 'f'.repeat(32) : lead_token;
      const in_path = operation.path.includes('{lead_token}');
      const url = in_path && credentials !== 'own' ? at.replace(lead_token, 'f'.repeat(32)) : at;
      return by(method, url, {
        ...sent,
        auth: null,
        query: { ...query, ...(credentials !== 'none' && !in_path && { lead_token: shown }) },
        body: content,
      });
    }
    if (operation.credentials === 'invitation_token') {
      const invitation_token =
        credentials === 'wrong'
          ? `inv-1-1-1-${'f'.repeat(64)}`
          : await invitationOf(world, company, ids.users!);
      return by(method, at, {
        ...sent,
        auth: null,
        query: { ...query, ...(credentials !== 'none' && { invitation_token }) },
        body: content,
      });
    }
    if (operation.credentials === 'webhook_token') {
      const auth_token = credentials === 'wrong' ? 'not the token' : webhook_token;
      return by(method, at, {
        ...sent,
        auth: null,
        query: { ...query, ...(credentials !== 'none' && { auth_token }) },
        body: content,
      });
    }
    const named = operation.parameters.flatMap(({ name }) =>
      name in HOOKED ? [[name, HOOKED[name]]] : name === 'number' ? [[name, number]] : [],
    );
    const search = new URLSearchParams({ ...Object.fromEntries(named), ...query } as Record<
      string,
      string
    >).toString();
    const url = search ? `${at}?${search}` : at;
    const form =
      typeof content === 'object' && content !== null
        ? new URLSearchParams(content as Record<string, string>).toString()
        : content;
    const params =
      typeof content === 'object' && content !== null
        ? Object.fromEntries(new URLSearchParams(form as string))
        : {};
    const signature = signatureOf(
      credentials === 'wrong' ? 'another token' : TWILIO_TOKEN,
      world.deps.config.public_url + url,
      params,
    );
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const headers = {
      ...type,
      ...(credentials !== 'none' && { 'X-Twilio-Signature': signature }),
      ...sent.headers,
    };
    return by(method, url, {
      ...sent,
      auth: null,
      headers,
      ...(method === 'head' ? {} : { body: form }),
    });
  };

  const makers = contract.operations.filter(
    ({ method, path: at }) => method === 'post' && at.split('/').length === 4,
  );
  // What is made for a lead needs the token of its owner first.
  for (const operation of makers.toSorted(
    (a, b) => Number(a.credentials !== 'account') - Number(b.credentials !== 'account'),
  )) {
    const plural = tableOf(operation);
    const res = hasFile(operation)
      ? await api('post', operation.path, { form: formOf(operation) })
      : await send(
          operation,
          operation.credentials === 'lead_token' ? { query: { lead_token } } : {},
        );
    const record = res.body[res.body.metadata?.root];
    if (!record) throw new Error(`${operation.id}: ${res.text}`);
    // Of calls the one that came in.
    ids[plural] ??= record.id;
    if (plural === 'schedule_actions')
      await api('post', 'schedule_actions', {
        body: { schedule_id: ids.schedules, action_type: 'dial', connect_to: '+13105550199' },
      });
    if (plural === 'schedules') ({ lead_token } = record);
    if (plural === 'inbound_webhooks') webhook_token = res.body.auth_token;
  }
  for (const id of ['blockContacts', 'receiveTextMessage'] as const)
    await send(contract.operations.find((operation) => operation.id === id)!);
  const first = async (table: string) =>
    Number(
      (
        await world.sql<{ id: string }>(
          `SELECT id FROM ${table} WHERE company_id = $1 ORDER BY id LIMIT 1`,
          [company.id],
        )
      )[0]!.id,
    );
  await world.sql(
    `INSERT INTO emails (company_id, uuid, from_email, to_email, subject, body, html, status, mailer) VALUES ($1, gen_random_uuid(), 'a@b.example', 'c@d.example', 'Hello', 'Hi', false, 'sent', 'sandbox')`,
    [company.id],
  );
  await world.sql(
    `INSERT INTO pings (company_id, uuid, created_at, inbound_webhook_id, offer_id, caller_number, token_values, buyer_ids, expires_at) VALUES ($1, gen_random_uuid(), now(), $2, $3, 13105550123, '{}', '{}', now())`,
    [company.id, ids.inbound_webhooks, ids.offers],
  );
  await world.sql(
    `INSERT INTO conversions (company_id, uuid, call_id, buyer_id, revenue) VALUES ($1, gen_random_uuid(), $2, $3, 0)`,
    [company.id, ids.calls, ids.buyers],
  );
  await world.sql(
    `WITH d AS (SELECT * FROM webhook_deliveries WHERE company_id = $1 ORDER BY id LIMIT 1)
    INSERT INTO webhook_logs (company_id, uuid, created_at, outgoing_webhook_id, webhook_delivery_id, trigger_type, event_id, attempt, request_headers, started_at, duration, success)
      SELECT $1, gen_random_uuid(), now(), d.outgoing_webhook_id, d.id, d.trigger_type, d.uuid, 1, '{}', now(), 5, false FROM d`,
    [company.id],
  );
  await world.sql(
    `INSERT INTO record_counts (company_id, resource, slot, n) VALUES ($1, 'webhook_logs', 0, 1)`,
    [company.id],
  );
  for (const table of [
    'contacts',
    'text_messages',
    'emails',
    'pings',
    'conversions',
    'webhook_logs',
    'change_logs',
  ])
    ids[table] = await first(table);
  return { ids, body, path, send };
}
