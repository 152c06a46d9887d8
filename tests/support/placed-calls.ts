import { createServer, type Server } from 'node:http';

import { openCarrier } from '../../src/platform/carriers';
import { computeSignature } from '../../src/platform/carriers/signature';
import { standingClock } from './clock';
import { DIAL, NOON, openShop, ownNumber } from './leads';
import { freePort } from './process';
import { startTwilio, type TwilioServer } from './twilio-server';
import { buildApp, caller, createWorld, type Api, type World } from './world';
import { patient } from './patience';

type Fields = Record<string, unknown>;

/** A company that places calls, at the sandbox or a carrier: registers the hooks of a test file. */
export function placedCalls() {
  let world: World;
  let server: TwilioServer;
  let hooks: Server;
  let publicUrl: string;
  let companies = 0;
  let companyNumber: string;
  const time = standingClock(NOON);
  beforeAll(async () => {
    server = await startTwilio();
    const port = await freePort();
    publicUrl = `http://127.0.0.1:${port}`;
    world = await createWorld({
      clock: time.read,
      environment: { PUBLIC_URL: publicUrl, TWILIO_AUTH_TOKEN: server.auth_token },
    });
    hooks = createServer(world.app as never);
    await new Promise<void>((done) => hooks.listen(port, '127.0.0.1', done));
  });
  beforeEach(async () => {
    time.set(NOON);
    world.company = await world.addCompany();
    companyNumber = `+1212555${String(7_000 + companies++)}`;
    await ownNumber(world, world.company, companyNumber.slice(1));
    server.trouble([]);
    for (const list of [server.requests, server.calls]) list.splice(0);
  });
  afterAll(async () => {
    hooks.close().closeAllConnections();
    await server.close();
    await world.close();
  });

  const ok = async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
    const res = await world.company.api(method, path, body ? { body } : {});
    if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
    return res.body;
  };
  /** Sends a request of the carrier, and checks the answer by the contract. */
  const report = (url: string, params: Record<string, string>) =>
    world.company.api('post', url.split('/api/v1/')[1]!, {
      auth: null,
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Twilio-Signature': computeSignature(server.auth_token, url, params),
      },
      body: new URLSearchParams(params).toString(),
    });
  const placeCall = (
    body: Fields,
    api: Api = world.company.api,
    headers: Record<string, string> = {},
  ) => api('post', 'calls', { body, headers });
  const errors = async (body: Fields) => {
    const res = await placeCall(body);
    return res.status === 201 ? 201 : res.body.errors;
  };
  /** The API of a service whose carrier is not this process. */
  const distant = (): Api => {
    const { account_sid, auth_token, url: baseUrl } = server;
    const options = {
      account_sid,
      auth_token,
      base_url: baseUrl,
      public_url: publicUrl,
      timeout_ms: patient(300),
    };
    const carrier = openCarrier('twilio', options);
    return caller(buildApp({ ...world.deps, carrier }), world.company.auth);
  };
  /** The number of calls as counted, and as stored. */
  const counted = async () => [
    (await ok('get', 'calls')).metadata.total_count,
    (await world.sql('SELECT FROM calls WHERE company_id = $1', [world.company.id])).length,
  ];
  const shop = () => openShop(world, [{ ...DIAL, timeout_seconds: 20 }]);
  return {
    get world() {
      return world;
    },
    get server() {
      return server;
    },
    get public_url() {
      return publicUrl;
    },
    get companyNumber() {
      return companyNumber;
    },
    time,
    ok,
    report,
    placeCall,
    errors,
    distant,
    counted,
    shop,
  };
}
