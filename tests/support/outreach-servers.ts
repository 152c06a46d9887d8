import { createServer, type Server } from 'node:http';
import { openCarrier } from '../../src/platform/carriers';
import type { Carrier } from '../../src/platform/carriers/carrier';
import type { Deps } from '../../src/domain/deps';
import { openMailer } from '../../src/platform/mail';
import { processDueLeads } from '../../src/domain/outreach/contact-due-leads';
import { eventually, watchCarrier, buildWorkers, type Meanwhile } from './engine-process';
import { openShop, ownNumber, submit, type Shop } from './leads';
import { startMailServer, type MailServer } from './mail-server';
import { freePort } from './process';
import { startTwilio, type TwilioServer } from './twilio-server';
import { createWorld, type World } from './world';
import { leadUpdate } from './write-leads';
import { patient } from './patience';

export const LEASE_MS = 1_000;
/** How long the carrier may take: enough on a busy machine, as later answers count as unknown. */
const TIMEOUT_MS = patient(700);

/**
 * Outreach with a Twilio and a mail server on loopback, which report to the API. Each test gets a
 * company of its own with one number.
 */
export function outreachServers() {
  let world: World;
  let here: World;
  let server: TwilioServer;
  let api: Server;
  let mail: MailServer;
  const workers = buildWorkers(() => world);
  let companies = 0;
  let publicUrl: string;

  beforeAll(async () => {
    server = await startTwilio();
    const port = await freePort();
    publicUrl = `http://127.0.0.1:${port}`;
    world = await createWorld({
      environment: { PUBLIC_URL: publicUrl, TWILIO_AUTH_TOKEN: server.auth_token },
    });
    api = createServer(world.app as never);
    await new Promise<void>((done) => api.listen(port, '127.0.0.1', done));
    mail = await startMailServer();
  });
  beforeEach(async () => {
    here = { ...world, company: await world.addCompany() };
    await ownNumber(here, here.company, String(12_125_550_110 + companies++));
    server.trouble([]);
    for (const list of [server.requests, server.messages, server.calls, mail.received])
      list.splice(0);
    await server.settle().catch(() => undefined);
  });
  afterEach(() => workers.closeAll());
  afterAll(async () => {
    api.close().closeAllConnections();
    await Promise.all([mail.close(), server.close()]);
    await world.close();
  });

  const smtp = (url = mail.url) => openMailer('smtp', { url, timeout_ms: patient(2_000) });
  const twilio = () =>
    openCarrier('twilio', {
      account_sid: server.account_sid,
      auth_token: server.auth_token,
      base_url: server.url,
      public_url: publicUrl,
      timeout_ms: TIMEOUT_MS,
    });
  /** Dependencies of a process of its own. */
  const worker = (edges: Parameters<typeof workers.open>[0] = {}): Deps =>
    workers.open({ carrier: twilio(), mailer: smtp(), ...edges });
  const run = (deps: Deps) => processDueLeads(deps, { lease_ms: LEASE_MS });
  /** Runs all due steps, and those that are due once the leases of dead workers are over. */
  async function settleAll(deps = worker()): Promise<void> {
    const waiting = () =>
      world.sql('SELECT FROM leads WHERE company_id = $1 AND claim_id IS NOT NULL', [
        here.company.id,
      ]);
    await eventually(async () => (await run(deps)) === 0 && (await waiting()).length === 0, 50);
  }
  /** Makes delayed steps due now. */
  const hurry = () =>
    world.sql(
      leadUpdate('due_at = now(), next_action_at = now()', 'l.company_id = $1 AND l.is_live'),
      [here.company.id],
    );

  const createShop = (actions: object[]): Promise<Shop> =>
    openShop(here, actions as never, { daylight_hours: '00:00..23:59' }, here.company);
  async function submitted(actions: object[], fields: object = {}): Promise<number> {
    const { schedule } = await createShop(actions);
    return (
      await submit(here, schedule.lead_token, {
        caller_id: '3102000001',
        email: 'ann@example.com',
        ...fields,
      })
    ).body.id;
  }
  const bodies = () => server.messages.map(({ body }) => body).toReversed();

  const watched = (meanwhile: Meanwhile): Carrier => watchCarrier(twilio(), meanwhile);
  /** Breaks the connections of workers inside a transaction, as the end of a process would. */
  const breakWorkers = () =>
    world.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
  const dying = () => watched(async (phase) => phase === 'after' && breakWorkers());

  return {
    smtp,
    twilio,
    worker,
    run,
    settleAll,
    hurry,
    createShop,
    submitted,
    bodies,
    watched,
    breakWorkers,
    dying,
    get world(): World {
      return world;
    },
    /** The world with the company of the test. */
    get here(): World {
      return here;
    },
    get server(): TwilioServer {
      return server;
    },
    get mail(): MailServer {
      return mail;
    },
    get public_url(): string {
      return publicUrl;
    },
    get companies(): number {
      return companies;
    },
  };
}
