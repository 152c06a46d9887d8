import { computeSignature } from '../../src/platform/carriers/signature';
import type { CredentialKind, Operation } from '../../src/platform/contract/contract';
import { confirmationToken } from '../../src/api/auth/confirmations';
import { invitationToken } from '../../src/api/auth/invitations';
import { buildAudio, buildNumber } from './example-bodies';
import { signJambonz } from './jambonz-rest';
import {
  JAMBONZ_SECRET,
  TWILIO_TOKEN,
  type Api,
  type Company,
  type Method,
  type RequestOptions,
  type World,
} from './world';

// Requests of the contract's examples, with the credentials that their operations ask for.

export interface SendOptions extends RequestOptions {
  credentials?: 'own' | 'none' | 'wrong';
  method?: Method;
  path?: string;
  query?: Record<string, string | number>;
}

/** Credentials of the sender. */
export interface Tokens {
  lead_token: string;
  webhook_token: string;
  /** The token of the user `user_id`, who is an agent. */
  agent_token: string;
  user_id: number;
}

/** A request that only lacks its credentials. */
interface Draft {
  operation: Operation;
  method: Method;
  path: string;
  query: Record<string, string | number>;
  credentials: 'own' | 'none' | 'wrong';
  options: RequestOptions;
}

interface Signed {
  path?: string;
  options: RequestOptions;
}
type Sign = (draft: Draft) => Signed | Promise<Signed>;

export interface Sender {
  world: World;
  company: Company;
  tokens: Tokens;
}

/** Sends an operation; `more` overrides its parts. */
export async function sendAs(
  sender: Sender,
  operation: Operation,
  { path, body, more, by }: { path: string; body: unknown; more: SendOptions; by: Api },
): ReturnType<Api> {
  const { credentials = 'own', method = operation.method, query = {}, path: at, ...rest } = more;
  const audio = 'body' in rest || 'form' in rest ? undefined : buildAudio(operation);
  const options = { ...rest, ...audio, headers: { ...audio?.headers, ...rest.headers } };
  const draft: Draft = {
    operation,
    method,
    path: at ?? path,
    query,
    credentials,
    options: { ...options, body: 'body' in options ? options.body : body },
  };
  const isAgent = isStream(operation) && credentials === 'own' && options.auth === undefined;
  const sign = isAgent ? asAgent : SIGNATURES[operation.credentials];
  const signed = await sign(sender)(draft);
  return by(method, signed.path ?? draft.path, signed.options);
}

/** A stream goes on until its client leaves: the test asks for what is there at once. */
const isStream = ({ id }: Operation): boolean =>
  ['streamAgentMessages', 'streamEvents', 'streamSwitchCommands'].includes(id);

const asAgent =
  ({ tokens }: Sender): Sign =>
  ({ options, query }) => ({
    options: {
      ...options,
      query: { wait_seconds: 0, ...query },
      auth: null,
      headers: { Authorization: `Token ${tokens.agent_token}`, ...options.headers },
    },
  });

const asAccount =
  ({ company }: Sender): Sign =>
  ({ options, query, credentials }) => {
    if (credentials === 'none') return { options: { ...options, query, auth: null } };
    const wrong = `${company.auth.split(':')[0]}:wrong`;
    const auth = credentials === 'wrong' ? wrong : options.auth;
    return { options: { ...options, query, ...(auth !== undefined && { auth }) } };
  };

const WRONG_LEAD_TOKEN = 'f'.repeat(32);

const asLeadOwner =
  ({ tokens }: Sender): Sign =>
  ({ operation, path, options, query, credentials }) => {
    if (operation.path.includes('{lead_token}')) {
      const wrong = path.replace(tokens.lead_token, WRONG_LEAD_TOKEN);
      return {
        path: credentials === 'own' ? path : wrong,
        options: { ...options, auth: null, query },
      };
    }
    const leadToken = credentials === 'wrong' ? WRONG_LEAD_TOKEN : tokens.lead_token;
    const shown = credentials === 'none' ? {} : { lead_token: leadToken };
    return { options: { ...options, auth: null, query: { ...query, ...shown } } };
  };

const asInvited =
  (sender: Sender): Sign =>
  async ({ options, query, credentials }) => {
    const wrong = `inv-1-1-1-${'f'.repeat(64)}`;
    const invitationToken = credentials === 'wrong' ? wrong : await openInvitation(sender);
    const shown = credentials === 'none' ? {} : { invitation_token: invitationToken };
    return { options: { ...options, auth: null, query: { ...query, ...shown } } };
  };

/** The token of an invitation that the user can accept. */
async function openInvitation({ world, company, tokens }: Sender): Promise<string> {
  const { id: companyId } = company;
  await world.sql(
    `UPDATE users SET invitation_open = true, invited_at = now(), invitation_number = 1
    WHERE company_id = $1 AND id = $2`,
    [companyId, tokens.user_id],
  );
  const userId = BigInt(tokens.user_id);
  return invitationToken({ company_id: companyId, user_id: userId, number: 1 }, world.deps.pepper);
}

const asConfirming =
  ({ world, company }: Sender): Sign =>
  async ({ options, query, credentials }) => {
    const wrong = `conf-1-1-1-${'f'.repeat(64)}`;
    const right = async () => {
      const [address] = await world.sql<{ id: string; number: number }>(
        `INSERT INTO mail_addresses (
          company_id, email, confirmation_number, confirmation_sent_at
        )
        SELECT id, 'desk@network.example', 1, now() FROM companies WHERE id = $1
        ON CONFLICT (company_id, email) DO UPDATE
          SET confirmed_at = NULL, confirmation_sent_at = now(), confirmation_number = 1
        RETURNING id, confirmation_number AS number`,
        [company.id],
      );
      // A company that was removed has no address.
      if (!address) return wrong;
      const { id, number } = address;
      const target = { company_id: company.id, id: BigInt(id), number };
      return confirmationToken(target, world.deps.pepper);
    };
    const token = credentials === 'wrong' ? wrong : await right();
    const shown = credentials === 'none' ? {} : { confirmation_token: token };
    return { options: { ...options, auth: null, query: { ...query, ...shown } } };
  };

const asSeller =
  ({ tokens }: Sender): Sign =>
  ({ options, query, credentials }) => {
    const authToken = credentials === 'wrong' ? 'not the token' : tokens.webhook_token;
    const shown = credentials === 'none' ? {} : { auth_token: authToken };
    return { options: { ...options, auth: null, query: { ...query, ...shown } } };
  };

const NOWHERE = '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';
/** Parameters of the URLs that the carrier gets. */
const IN_URLS: Record<string, string> = {
  key: NOWHERE,
  call: NOWHERE,
  attempt: NOWHERE,
  round: '1',
};

const asCarrier =
  ({ world, company }: Sender): Sign =>
  ({ operation, method, path, options, query, credentials }) => {
    const urlValues: Record<string, string> = { ...IN_URLS, number: buildNumber(company) };
    const urlEntries = operation.parameters.flatMap(({ name }) =>
      name in urlValues ? [[name, urlValues[name]!] as const] : [],
    );
    const parameters = { ...Object.fromEntries(urlEntries), ...query } as Record<string, string>;
    const search = new URLSearchParams(parameters).toString();
    const url = search ? `${path}?${search}` : path;
    const isObject = typeof options.body === 'object' && options.body !== null;
    const isJson = operation.media_types.includes('application/json');
    const fields = isObject && !isJson ? (options.body as Record<string, string>) : {};
    const form = new URLSearchParams(fields);
    const content = isJson ? JSON.stringify(options.body) : form.toString();
    const { body, ...rest } = options;
    const token = credentials === 'wrong' ? 'another token' : undefined;
    const signature = isJson
      ? signJambonz(token ?? JAMBONZ_SECRET, isObject ? content : String(body), world.deps.clock())
      : computeSignature(
          token ?? TWILIO_TOKEN,
          world.deps.config.public_url + url,
          Object.fromEntries(form),
        );
    const headers = {
      'Content-Type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(credentials !== 'none' && {
        [isJson ? 'Jambonz-Signature' : 'X-Twilio-Signature']: signature,
      }),
      ...options.headers,
    };
    return {
      path: url,
      options: {
        ...{ ...rest, auth: null, headers },
        ...(method !== 'head' && { body: isObject ? content : body }),
      },
    };
  };

const SIGNATURES: Record<CredentialKind, (sender: Sender) => Sign> = {
  account: asAccount,
  lead_token: asLeadOwner,
  invitation_token: asInvited,
  confirmation_token: asConfirming,
  webhook_token: asSeller,
  carrier_signature: asCarrier,
};
