import { openCarrier } from '../../src/platform/carriers';
import type { Carrier, Failure } from '../../src/platform/carriers/carrier';
import { useWorld } from './use-world';
import { buildApp, caller, type Api, type Company } from './world';

export const DOWN: Failure = {
  ok: false,
  retryable: true,
  code: 'unavailable',
  message: 'It is down.',
};
export const GONE: Failure = {
  ok: false,
  retryable: false,
  code: 'not_available',
  message: 'It is sold.',
};

type CarrierRequests = Record<
  'search' | 'buy' | 'release',
  { key?: string; tried_at?: Date; phone_number?: string; id?: string }[]
>;

const NO_TROUBLE = { search: undefined, buy: undefined, release: undefined, afterSale: undefined };

/**
 * A carrier that counts its requests and sells each number once. First it does what a test has set
 * up.
 */
export function openOwnCarrier() {
  const sandbox = openCarrier('sandbox');
  const sold = new Map<string, { id: string; key: string }>();
  const requests: CarrierRequests = { search: [], buy: [], release: [] };
  const trouble: {
    search?: Failure;
    buy?: Failure;
    release?: Failure;
    afterSale?: () => Promise<Failure | undefined>;
  } = {};
  const carrier: Carrier = {
    ...sandbox,
    instant: false,
    searchNumbers: async (search) => {
      requests.search.push({});
      return trouble.search ?? sandbox.searchNumbers(search);
    },
    buyNumber: async ({ key, phone_number, tried_at }) => {
      requests.buy.push({ key, phone_number, tried_at });
      const before = sold.get(phone_number);
      if (trouble.buy) return trouble.buy;
      await new Promise((done) => setTimeout(done, 20));
      if (before && before.key === key && tried_at)
        return { ok: true, carrier_id: before.id, status: 'bought' };
      if (before) return GONE;
      sold.set(phone_number, { id: `PN${sold.size + 1}`, key });
      const failed = await trouble.afterSale?.();
      return failed ?? { ok: true, carrier_id: sold.get(phone_number)!.id, status: 'bought' };
    },
    releaseNumber: async (id) => {
      requests.release.push({ id });
      if (trouble.release) return trouble.release;
      for (const [phoneNumber, sale] of sold) if (sale.id === id) sold.delete(phoneNumber);
      return { ok: true };
    },
  };
  const quiet = () => {
    Object.assign(trouble, NO_TROUBLE);
    for (const list of Object.values(requests)) list.length = 0;
  };
  return { carrier, sold, requests, trouble, quiet };
}

/** Two companies, and a carrier of their own that starts each test without trouble. */
export function useMarket() {
  const world = useWorld();
  const theirs = {} as Company;
  const carrier = openOwnCarrier();
  let app: ReturnType<typeof buildApp>;
  beforeAll(async () => {
    Object.assign(theirs, await world.addCompany('Theirs'));
    app = buildApp({ ...world.deps, carrier: carrier.carrier });
  });
  beforeEach(() => carrier.quiet());
  const buildApi = ({ auth }: Company) => caller(app, auth);
  const api: Api = (...request) => buildApi(world.company)(...request);
  const otherApi: Api = (...request) => buildApi(theirs)(...request);
  const buy = (body: object = {}, by = api, headers: Record<string, string> = {}) =>
    by('post', 'phone_numbers', { body, headers });
  const bought = async (body: object = {}, by = api) => {
    const res = await buy(body, by);
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    return res.body.number;
  };
  const search = async (query: object, by = api): Promise<string[]> => {
    const res = await by('get', 'phone_numbers/search', { query: { per_page: 1000, ...query } });
    expect(res.status).toBe(200);
    return res.body.phone_number_search_results.map(
      ({ phone_number }: { phone_number: string }) => phone_number,
    );
  };
  const lookups = (phoneNumber: string) =>
    world.sql('SELECT * FROM number_lookups WHERE phone_number = $1', [phoneNumber.slice(1)]);
  const show = (id: string | number, by = api) => by('get', `phone_numbers/${id}`);
  return { world, theirs, carrier, buildApi, api, otherApi, buy, bought, search, lookups, show };
}
