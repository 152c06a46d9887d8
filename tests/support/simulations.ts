import { standingClock } from './clock';
import { createWorld, type World } from './world';

/** Monday 08:00 in New York. */
export const MONDAY = '2026-06-01T12:00:00Z';
export const DAY = { from: '2026-06-01T00:00:00Z', to: '2026-06-02T00:00:00Z' };
const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 60 };

export type Fields = Record<string, unknown>;
/** A buyer in the reply to a simulation. */
export interface Row {
  buyer_id: number;
  changed: boolean;
  answer_rate: number;
  real: Fields;
  as_configured: Fields & { skip_reasons: Record<string, number> };
  as_changed: Fields & { skip_reasons: Record<string, number> };
  difference: Record<string, number>;
}

export const indexRows = ({ buyers }: { buyers: Row[] }) =>
  new Map(buyers.map((row) => [row.buyer_id, row]));

/** A company of its own for each test of the file, which makes calls and simulates them. */
export function simulations() {
  let world: World;
  const time = standingClock(MONDAY);
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
  });
  beforeEach(async () => {
    time.set(MONDAY);
    world.company = await world.addCompany();
  });
  afterAll(() => world.close());

  const ok = async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
    const res = await world.company.api(method, path, body ? { body } : {});
    if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
    return res.body;
  };
  let next = 100;
  const buyer = async (fields: Fields = {}): Promise<number> =>
    (
      await ok('post', 'buyers', {
        name: `Buyer ${next}`,
        number: `+1212555${String(next++).padStart(4, '0')}`,
        timeout_seconds: 30,
        ...PAYS,
        ...fields,
      })
    ).buyer.id;
  const offer = async (fields: Fields): Promise<number> =>
    (await ok('post', 'offers', { name: 'Auto', ...fields })).offer.id;
  const later = (seconds: number) =>
    time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
  const report = async (call: { id: number }, event: string) =>
    (await ok('post', `call_sessions/${call.id}/events`, { event })).call_session.instruction;
  const simulate = async (body: Fields) => (await ok('post', 'routing/simulate', body)).simulation;
  const collectErrors = async (body: Fields) => {
    const res = await world.company.api('post', 'routing/simulate', { body });
    return [res.status, res.body.errors];
  };
  const sql = (text: string, values: unknown[]) => world.sql(text, values);
  const companyId = () => world.company.id;
  return { ok, buyer, offer, later, report, simulate, collectErrors, sql, company_id: companyId };
}
