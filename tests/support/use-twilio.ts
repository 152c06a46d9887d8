import { createServer } from 'node:http';
import { openCarrier } from '../../src/platform/carriers';
import type { DialectName } from '../../src/platform/carriers/dialects/dialect';
import { listen } from './loopback';
import { freePort } from './process';
import { startTwilio, type TwilioServer } from './twilio-server';
import { useWorld, type WorldSetup } from './use-world';

type Environment = Record<string, string>;

/** A world and a server that stands for Twilio: registers the hooks of a test file. */
export function useTwilio(
  setup: WorldSetup,
  toEnvironment: (server: TwilioServer) => Environment | Promise<Environment> = () => ({}),
  dialect: DialectName = 'twilio',
) {
  let server: TwilioServer;
  const environment = async () => {
    server = await startTwilio([], dialect);
    world.closeLater(server.close);
    return toEnvironment(server);
  };
  const world = useWorld({ fresh: 'company', ...setup, environment });
  beforeEach(() => {
    server.trouble([]);
    for (const list of [server.requests, server.messages, server.calls]) list.splice(0);
  });
  return {
    world,
    get server() {
      return server;
    },
  };
}

/** The settings of an installation whose carrier this is. */
const toSettings = (server: TwilioServer): Environment => ({
  CARRIER: 'twilio',
  TWILIO_DIALECT: server.dialect,
  TWILIO_ACCOUNT_SID: server.account_sid,
  TWILIO_AUTH_TOKEN: server.auth_token,
  TWILIO_SIGNING_KEY: server.keys.signing_key,
  TWILIO_BASE_URL: server.base_url,
  TELNYX_APPLICATION_ID: server.application_id,
  PUBLIC_URL: 'https://calls.example.com',
  TRUST_PROXY: '1',
});

/** A world whose carrier is the model of one that speaks this dialect. */
export function useDialect(dialect: DialectName, setup: WorldSetup & { clock: string }) {
  const here = useTwilio(setup, toSettings, dialect);
  beforeEach(() => void (here.server.clock = here.world.clock.read));
  return here;
}

/** A Twilio that reports to the service about the companies of tests, which have a number each. */
export function useReportingTwilio(setup: WorldSetup = {}) {
  let publicUrl: string;
  let port: number;
  const here = useTwilio({ own_number: true, ...setup }, async ({ auth_token }) => {
    port = await freePort();
    publicUrl = `http://127.0.0.1:${port}`;
    return { PUBLIC_URL: publicUrl, TWILIO_AUTH_TOKEN: auth_token };
  });
  const { world } = here;
  beforeAll(async () => {
    const { close } = await listen(createServer(world.app as never), '127.0.0.1', port);
    world.closeLater(close);
  });
  return {
    world,
    get server() {
      return here.server;
    },
    get public_url() {
      return publicUrl;
    },
    /** The carrier of a process, which waits so long for answers. */
    openCarrier: (timeoutMs: number) => {
      const { account_sid, auth_token, url } = here.server;
      const urls = { base_url: url, public_url: publicUrl };
      return openCarrier('twilio', { account_sid, auth_token, ...urls, timeout_ms: timeoutMs });
    },
  };
}
