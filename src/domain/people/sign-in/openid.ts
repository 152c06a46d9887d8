import type { Request, RequestHandler } from 'express';
import type { ClientAuth, Configuration } from 'openid-client' with { 'resolution-mode': 'import' };
import { clearCookie, readCookie, setCookie } from '../../../api/auth/session-cookie';
import type { Config } from '../../../platform/config';
import { HttpProblem } from '../../../platform/errors';
import { deriveKey, open, seal } from '../../../platform/sealed';
import type { Deps } from '../../deps';
import { takeAttempt } from './attempts';
import { readAddress, type ConsoleCall } from './console-call';
import { findByIdentity, type Identity } from './login';
import { continueSignIn } from './sign-in';

// Signing in by OpenID Connect: at a provider that the operator has named. It lets in users of the
// company by a confirmed address, and from then on by its own name for them; it makes none.

const COOKIE = 'trunkline_oidc';
const WAIT_MS = 10 * 60_000;
const CALLBACK = '/console/sign-in/oidc/callback';
/** How long the provider may take for an answer. */
const TIMEOUT_SECONDS = 10;
/** Providers change their keys and addresses. */
const DISCOVERED_FOR_MS = 3_600_000;

type Settings = NonNullable<Config['oidc']>;
type Discover = () => Promise<Configuration>;

/** The library is of ES modules alone, and few installations need it: it is loaded on demand. */
const loadLibrary = () => import('openid-client');

interface Expected {
  state: string;
  nonce: string;
  verifier: string;
  return_to: string;
  begun_at: number;
}

/** A sign-in that does not succeed, with a word for the page of the console. */
class Refusal extends Error {
  constructor(readonly code: 'oidc_failed' | 'oidc_expired' | 'oidc_unknown_user') {
    super(code);
  }
}

export interface OpenIdRoutes {
  /** Leads to the provider. */
  begin: RequestHandler;
  /** Where the provider leads back to. */
  end: RequestHandler;
}

export function openIdRoutes(deps: Deps): OpenIdRoutes {
  const discover = discovery(deps);
  const toCall = (req: Request, res: ConsoleCall['res']): ConsoleCall => ({
    deps,
    req,
    res,
    now: deps.clock(),
  });
  return {
    begin: async (req, res) => {
      const { oidc } = deps.config;
      if (!oidc) throw new HttpProblem('unknown_path', 'There is no such path.');
      const call = toCall(req, res);
      await leadThere(call, () => discover(oidc)).catch((error: unknown) => leadBack(call, error));
    },
    end: async (req, res) => {
      const { oidc } = deps.config;
      if (!oidc) throw new HttpProblem('unknown_path', 'There is no such path.');
      const call = toCall(req, res);
      await finish(call, () => discover(oidc)).catch((error: unknown) => leadBack(call, error));
    },
  };
}

/** The provider's own description of itself, fetched at first use and then every hour. */
function discovery({ clock }: Deps): (settings: Settings) => Promise<Configuration> {
  let cached: { configuration: Promise<Configuration>; until: number } | undefined;
  return async (settings) => {
    const now = clock().getTime();
    if (!cached || cached.until <= now)
      cached = { configuration: fetchConfiguration(settings), until: now + DISCOVERED_FOR_MS };
    try {
      return await cached.configuration;
    } catch (error) {
      cached = undefined;
      throw error;
    }
  };
}

async function fetchConfiguration(settings: Settings): Promise<Configuration> {
  const library = await loadLibrary();
  const { issuer, client_id, client_secret } = settings;
  const server = new URL(issuer);
  // The settings allow it for this machine alone.
  const isPlain = server.protocol === 'http:';
  return library.discovery(server, client_id, undefined, chooseClientAuth(library, client_secret), {
    timeout: TIMEOUT_SECONDS,
    execute: [
      library.enableNonRepudiationChecks,
      ...(isPlain ? [library.allowInsecureRequests] : []),
    ],
  });
}

function chooseClientAuth(
  { ClientSecretBasic, ClientSecretPost, None }: Awaited<ReturnType<typeof loadLibrary>>,
  secret: string | undefined,
): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isBasic = methods.includes('client_secret_basic');
    return (isBasic ? basic : post)(server, ...rest);
  };
}

const keyFor = ({ deps }: ConsoleCall): Buffer => deriveKey(deps.pepper, 'openid connect');

async function leadThere(call: ConsoleCall, discover: Discover): Promise<void> {
  const { deps, req, res, now } = call;
  const configuration = await discover();
  const library = await loadLibrary();
  const expected: Expected = {
    state: library.randomState(),
    nonce: library.randomNonce(),
    verifier: library.randomPKCECodeVerifier(),
    return_to: readReturn(req.query.return_to),
    begun_at: now.getTime(),
  };
  const url = library.buildAuthorizationUrl(configuration, {
    redirect_uri: deps.config.public_url + CALLBACK,
    scope: 'openid email profile',
    state: expected.state,
    nonce: expected.nonce,
    code_challenge: await library.calculatePKCECodeChallenge(expected.verifier),
    code_challenge_method: 'S256',
  });
  const sealed = Buffer.from(seal(keyFor(call), JSON.stringify(expected))).toString('base64url');
  // Lax: the provider leads back from its own site.
  setCookie(res, [COOKIE, sealed], deps.config, { maxAge: WAIT_MS, sameSite: 'lax' });
  res.redirect(303, url.href);
}

/** A view of the console, as its address has it: nothing that leads elsewhere. */
const readReturn = (value: unknown): string =>
  typeof value === 'string' && /^#\/[\w/?=&%.,~:+-]{0,500}$/.test(value) ? value : '#/';

async function finish(call: ConsoleCall, discover: Discover): Promise<void> {
  const { deps, res, now } = call;
  const expected = takeExpected(call);
  const attempt = await takeAttempt(deps, { kind: 'token' }, readAddress(call));
  const identity = await fetchIdentity(call, await discover(), expected);
  const people = await findByIdentity(deps, identity);
  if (people.length === 0) throw new Refusal('oidc_unknown_user');
  await attempt.succeed();
  await continueSignIn(call, { people, method: 'oidc', begun_at: now, identity });
  res.redirect(303, `/console/${expected.return_to}`);
}

/** The values that this browser was sent away with: they are taken once. */
function takeExpected(call: ConsoleCall): Expected {
  const { deps, req, res, now } = call;
  const sealed = readCookie(req, COOKIE, deps.config);
  clearCookie(res, COOKIE, deps.config);
  if (sealed === undefined) throw new Refusal('oidc_expired');
  try {
    const expected = JSON.parse(open(keyFor(call), Buffer.from(sealed, 'base64url'))) as Expected;
    if (now.getTime() - expected.begun_at < WAIT_MS) return expected;
  } catch {
    // Another pepper, or a cookie that was not made here.
  }
  throw new Refusal('oidc_expired');
}

/** Throws for an answer that is not the provider's to this browser. */
async function fetchIdentity(
  { deps, req }: ConsoleCall,
  configuration: Configuration,
  { state, nonce, verifier }: Expected,
): Promise<Identity> {
  const library = await loadLibrary();
  const at = req.originalUrl.indexOf('?');
  const query = at < 0 ? '' : req.originalUrl.slice(at);
  const url = new URL(deps.config.public_url + CALLBACK + query);
  const tokens = await library.authorizationCodeGrant(configuration, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims()!;
  const { email, email_verified } =
    claims.email === undefined
      ? await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : claims;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: typeof email === 'string' && email_verified === true ? email.toLowerCase() : undefined,
  };
}

/** Shows on the page of signing in what went wrong; the log has the reason. */
function leadBack({ deps, res }: ConsoleCall, error: unknown): void {
  if (error instanceof HttpProblem) throw error;
  const code = error instanceof Refusal ? error.code : 'oidc_failed';
  if (!(error instanceof Refusal))
    deps.log.warn({ err: error }, 'signing in by OpenID Connect failed');
  res.redirect(303, `/console/#/sign-in?error=${code}`);
}
