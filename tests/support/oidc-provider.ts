import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A real provider of OpenID Connect (oidc-provider), in which everybody has signed in already: it
// asks for nothing, and says who the person is as the test has set it.

export interface Claims {
  sub: string;
  email?: string;
  email_verified?: boolean;
}

interface Interaction {
  prompt: { name: string };
  params: { client_id: string };
  session?: { accountId: string };
  grantId?: string;
}

interface Grant {
  addOIDCScope(scope: string): void;
  addOIDCClaims(names: string[]): void;
  save(): Promise<string>;
}

/** The part of oidc-provider that is used here: it has no types of its own. */
interface Library {
  Provider: new (
    issuer: string,
    configuration: object,
  ) => {
    callback(): (req: IncomingMessage, res: ServerResponse) => void;
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>;
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: object): Promise<void>;
    Grant: new (of: { accountId: string; clientId: string }) => Grant;
  };
}

export const CLIENT = {
  client_id: 'trunkline',
  client_secret: 'a secret of this client, for tests',
};

export async function startProvider(redirectUri: string) {
  const library = 'oidc-provider';
  const { Provider } = (await import(library)) as Library;
  let person: Claims = { sub: 'nobody' };
  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ ...person, sub: id }),
    }),
    cookies: { keys: ['of the provider of tests'] },
    // Without these it prints that they should be set.
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  });
  const handle = provider.callback();
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    if (!req.url!.startsWith('/interaction/')) return handle(req, res);
    const { prompt, params, session } = await provider.interactionDetails(req, res);
    if (prompt.name === 'login')
      return provider.interactionFinished(req, res, { login: { accountId: person.sub } });
    const grant = new provider.Grant({
      accountId: session!.accountId,
      clientId: params.client_id,
    });
    grant.addOIDCScope('openid email profile');
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } });
  };
  return {
    issuer,
    /** Who it is that signs in next. */
    be: (claims: Claims) => void (person = claims),
    close: () => new Promise((done) => server.close(done).closeAllConnections()),
  };
}

/** Follows the redirects of the provider as a browser does, up to the address that it leads to. */
export async function passProvider(url: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = url;
  for (let n = 0; n < 10 && next.startsWith(issuer); n++) {
    const res = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const header of res.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header)!;
      cookies.set(name, value);
    }
    const location = res.headers.get('location');
    if (location === null) throw new Error(`the provider: ${res.status} ${await res.text()}`);
    next = new URL(location, next).href;
  }
  return next;
}
