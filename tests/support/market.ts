import { openMarket, type Market } from './numbers';
import type { Api } from './world';

export let market: Market;

/** Opens the market of a test file; its carrier starts each test without trouble. */
export function setUp(): void {
  beforeAll(async () => {
    market = await openMarket();
  });
  beforeEach(() => market.carrier.quiet());
  afterAll(() => market.world.close());
}

export const api: Api = (...args) => market.api(...args);
export const otherApi: Api = (...args) => market.otherApi(...args);
export const buy = (...args: Parameters<Market['buy']>) => market.buy(...args);
export const bought = (...args: Parameters<Market['bought']>) => market.bought(...args);
export const createRecord = (...args: Parameters<Market['createRecord']>) =>
  market.createRecord(...args);
export const search = (...args: Parameters<Market['search']>) => market.search(...args);
export const lookups = (...args: Parameters<Market['lookups']>) => market.lookups(...args);
export const show = (...args: Parameters<Market['show']>) => market.show(...args);
