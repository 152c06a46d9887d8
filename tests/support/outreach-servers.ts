import type { Carrier } from '../../src/platform/carriers/carrier';
import type { Deps } from '../../src/domain/deps';
import { openMailer } from '../../src/platform/mail';
import { processDueLeads } from '../../src/domain/outreach/due-leads';
import { eventually, watchCarrier, buildWorkers, type Meanwhile } from './engine-process';
import { loadSent, openShop, submit, type Shop } from './leads';
import { startMailServer, type MailServer } from './mail-server';
import type { TwilioServer } from './twilio-server';
import { useReportingTwilio } from './use-twilio';
import type { World } from './world';
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
  const carrier = useReportingTwilio();
  const { world } = carrier;
  const workers = buildWorkers(() => world);
  let mail: MailServer;
  let companies = 0;
  beforeAll(async () => {
    mail = await startMailServer();
    world.closeLater(mail.close);
  });
  beforeEach(async () => {
    companies++;
    mail.received.splice(0);
    await carrier.server.settle().catch(() => undefined);
  });
  afterEach(() => workers.closeAll());

  const smtp = (url = mail.url) => openMailer('smtp', { url, timeout_ms: patient(2_000) });
  const twilio = () => carrier.openCarrier(TIMEOUT_MS);
  /** Dependencies of a process of its own. */
  const worker = (edges: Parameters<typeof workers.open>[0] = {}): Deps =>
    workers.open({ carrier: twilio(), mailer: smtp(), ...edges });
  const run = (deps: Deps) => processDueLeads(deps, { lease_ms: LEASE_MS });
  /** Runs all due steps, and those that are due once the leases of dead workers are over. */
  async function settleAll(deps = worker()): Promise<void> {
    const waiting = () =>
      world.sql('SELECT FROM leads WHERE company_id = $1 AND claim_id IS NOT NULL', [
        world.company.id,
      ]);
    await eventually(async () => (await run(deps)) === 0 && (await waiting()).length === 0, 50);
  }
  /** Makes delayed steps due now. */
  const hurry = () =>
    world.sql(
      leadUpdate('due_at = now(), next_action_at = now()', 'l.company_id = $1 AND l.is_live'),
      [world.company.id],
    );

  const createShop = (actions: object[]): Promise<Shop> =>
    openShop(world, actions as never, { daylight_hours: '00:00..23:59' });
  async function submitted(actions: object[], fields: object = {}): Promise<number> {
    const { schedule } = await createShop(actions);
    return (
      await submit(world, schedule.lead_token, {
        caller_id: '3102000001',
        email: 'ann@example.com',
        ...fields,
      })
    ).body.id;
  }
  const bodies = () => carrier.server.messages.map(({ body }) => body).toReversed();

  const watched = (meanwhile: Meanwhile): Carrier => watchCarrier(twilio(), meanwhile);
  /** Breaks the connections of workers inside a transaction, as the end of a process would. */
  const breakWorkers = () =>
    world.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
  const dying = () => watched(async (phase) => phase === 'after' && breakWorkers());

  /** The first lead was texted, the second called; the carrier has done both. */
  async function expectBothSent([texted, called]: readonly number[]): Promise<void> {
    const { server } = carrier;
    expect(await loadSent(world, 'text_messages', texted!)).toMatchObject([
      { status: 'delivered', carrier_message_id: server.messages[0]!.sid },
    ]);
    expect(await loadSent(world, 'calls', called!)).toMatchObject([
      { status: 'completed', carrier_call_id: server.calls[0]!.sid },
    ]);
  }

  return {
    expectBothSent,
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
    world,
    /** The world with the company of the test. */
    here: world as World,
    get server(): TwilioServer {
      return carrier.server;
    },
    get mail(): MailServer {
      return mail;
    },
    get public_url(): string {
      return carrier.public_url;
    },
    get companies(): number {
      return companies;
    },
  };
}
