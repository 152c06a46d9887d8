import { JambonzCaller } from './jambonz-caller';
import { startJambonz, type JambonzServer } from './jambonz-rest';
import { useWorld } from './use-world';

/** A world whose carrier is the model of a jambonz: registers the hooks of a test file. */
export function useJambonz(clock: string) {
  let server: JambonzServer;
  const environment = async () => {
    server = await startJambonz();
    world.closeLater(server.close);
    return {
      CARRIER: 'jambonz',
      JAMBONZ_BASE_URL: server.base_url,
      JAMBONZ_ACCOUNT_SID: server.account_sid,
      JAMBONZ_API_KEY: server.api_key,
      JAMBONZ_APPLICATION_SID: server.application_sid,
      JAMBONZ_WEBHOOK_SECRET: server.webhook_secret,
      PUBLIC_URL: 'https://calls.example.com',
      TRUST_PROXY: '1',
    };
  };
  const world = useWorld({ fresh: 'company', clock, environment });
  beforeEach(() => {
    for (const list of [server.requests, server.calls, server.troubles]) list.splice(0);
  });
  return {
    world,
    get server() {
      return server;
    },
    get caller() {
      return new JambonzCaller(world, world.clock, server.webhook_secret);
    },
  };
}
