import { DIAL, NOON, openShop } from './leads';
import type { Fields } from './records';
import { signForm } from './twiml-caller';
import { useReportingTwilio } from './use-twilio';
import { buildApp, caller, type Api } from './world';
import { patient } from './patience';

/** A company that places calls, at the sandbox or a carrier: registers the hooks of a test file. */
export function placedCalls() {
  const here = useReportingTwilio({ clock: NOON });
  const { world } = here;
  const { ok } = world;
  /** Sends a request of the carrier, and checks the answer by the contract. */
  const report = (url: string, params: Record<string, string>) =>
    world.api(
      'post',
      url.split('/api/v1/')[1]!,
      signForm(url, params, { token: here.server.auth_token }),
    );
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
    const carrier = here.openCarrier(patient(300));
    return caller(buildApp({ ...world.deps, carrier }), world.company.auth);
  };
  /** The number of calls as counted, and as stored. */
  const counted = async () => [
    (await ok('get', 'calls')).metadata.total_count,
    (await world.sql('SELECT FROM calls WHERE company_id = $1', [world.company.id])).length,
  ];
  const shop = () => openShop(world, [{ ...DIAL, timeout_seconds: 20 }]);
  return {
    world,
    get server() {
      return here.server;
    },
    get public_url() {
      return here.public_url;
    },
    get companyNumber() {
      return world.number;
    },
    time: world.clock,
    ok,
    report,
    placeCall,
    errors,
    distant,
    counted,
    shop,
  };
}
