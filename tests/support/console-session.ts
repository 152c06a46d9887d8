import request from 'supertest';
import { hashPassword } from '../../src/domain/people/sign-in/passwords';
import { saveLogin } from '../../src/domain/people/sign-in/login';
import { BASE_PATH } from '../../src/platform/contract/contract';
import { checkAnswer } from './worker/contract-check';
import { keptConnections, serverFor } from './worker/servers';
import { PEPPER_OF_TESTS, type Company, type Method, type World } from './world';

export const PASSWORD = 'correct horse battery staple';

interface ConsoleRequest {
  body?: object | string;
  headers?: Record<string, string | undefined>;
}

export interface ConsoleBrowser {
  /** By name; those of the answers so far. */
  cookies: Map<string, string>;
  /** The token of the last answer with one. */
  csrf: string;
  /** Sends what a page of the console sends; a header that is undefined is left out. */
  send(method: Method, path: string, options?: ConsoleRequest): Promise<request.Response>;
  signIn(email: string, password?: string): Promise<request.Response>;
  /** Another browser with the same cookies. */
  copy(): ConsoleBrowser;
}

type Service = { app: World['app'] } | { base: string };

const lowered = (headers: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Some operations of the contract are not for sessions: for them the path is unknown. */
const isPromised = (method: Method, url: string, res: request.Response): boolean =>
  url.startsWith(`/console${BASE_PATH}`) &&
  method !== 'head' &&
  method !== 'options' &&
  res.body?.code !== 'unknown_path';

/** A browser that shows the console of a service: it keeps cookies, and says where its page is from. */
export function openBrowser(
  service: Service,
  { ip, cookies = new Map() }: { ip?: string; cookies?: Map<string, string> } = {},
): ConsoleBrowser {
  const target = 'base' in service ? service.base : serverFor(service.app);
  const browser: ConsoleBrowser = {
    cookies,
    csrf: '',
    send: async (method, path, { body, headers = {} } = {}) => {
      const url = path.startsWith('/') ? path : `/console${BASE_PATH}/${path}`;
      let req = request(target)[method](url).agent(keptConnections);
      const all = {
        'accept-encoding': 'identity',
        'sec-fetch-site': 'same-origin',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') || undefined,
        'x-csrf-token': browser.csrf || undefined,
        'x-forwarded-for': ip,
        ...lowered(headers),
      };
      for (const [name, value] of Object.entries(all))
        if (value !== undefined) req = req.set(name, value);
      if (body !== undefined) req = req.send(body);
      const res = await req.ok(() => true);
      keepCookies(cookies, res);
      if (typeof res.body?.csrf_token === 'string') browser.csrf = res.body.csrf_token;
      if (isPromised(method, url, res)) checkAnswer(method, url.slice('/console'.length), res);
      return res;
    },
    signIn: (email, password = PASSWORD) =>
      browser.send('post', '/console/session', { body: { email, password } }),
    copy: () => {
      const other = openBrowser(service, { ...(ip && { ip }), cookies: new Map(cookies) });
      other.csrf = browser.csrf;
      return other;
    },
  };
  return browser;
}

function keepCookies(cookies: Map<string, string>, res: request.Response): void {
  for (const header of ([res.headers['set-cookie'] ?? []] as string[][]).flat()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header)!;
    if (value === '' || /expires=thu, 01 jan 1970/i.test(header)) cookies.delete(name);
    else cookies.set(name, value);
  }
}

/** A user of a company with a password, in a team with these rights. */
export async function createPerson(
  world: Pick<World, 'deps'>,
  company: Company,
  email: string,
  team: object = { superuser: true },
): Promise<{ id: number; email: string }> {
  const { body } = await company.api('post', 'access_control_lists', {
    body: { name: email, users_emails: [email], ...team },
  });
  const id = body.access_control_list.user_ids[0] as number;
  await setPassword(world, company, id);
  return { id, email };
}

export async function setPassword(
  { deps }: Pick<World, 'deps'>,
  company: Company,
  id: number,
  password = PASSWORD,
): Promise<void> {
  await deps.tenants.of(company.id).transaction(async (tx) =>
    saveLogin(tx, BigInt(id), {
      password_hash: await hashPassword(password, PEPPER_OF_TESTS),
      password_set_at: deps.clock(),
    }),
  );
}
