import type { Deps } from './deps';
import type { Handlers } from './http/handlers';
import { accessTokens } from './resources/access_tokens';
import { buyerFleets } from './resources/buyer_fleets';
import { buyerGroups } from './resources/buyer_groups';
import { buyerSuppressionFiles } from './resources/buyer_suppression_files';
import { buyerSuppressions } from './resources/buyer_suppressions';
import { buyers } from './resources/buyers';
import { collections } from './resources/collections';
import { me } from './resources/me';
import { offers } from './resources/offers';
import { scheduleActions } from './resources/schedule_actions';
import { schedules } from './resources/schedules';
import { trafficSources } from './resources/traffic_sources';

/** The whole API as one object: an operation of the contract without a handler does not compile. */
export const createHandlers = (deps: Deps): Handlers => {
  const parts = [
    buyers(deps),
    buyerGroups(deps),
    buyerFleets(deps),
    buyerSuppressions(deps),
    buyerSuppressionFiles(deps),
    offers(deps),
    schedules(deps),
    scheduleActions(deps),
    trafficSources(deps),
    accessTokens(deps),
    me(),
    collections(deps),
  ] as const;
  requireDistinct(parts);
  const [a, b, c, d, e, f, g, h, i, j, k, l] = parts;
  return { ...a, ...b, ...c, ...d, ...e, ...f, ...g, ...h, ...i, ...j, ...k, ...l };
};

/** A spread hides a name that two resources use. */
export function requireDistinct(parts: readonly object[]): void {
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`two handlers are called ${twice}`);
}
