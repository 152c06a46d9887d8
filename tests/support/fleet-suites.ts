import { repetitions } from './repetitions';
import { GUARANTEES, runSuites, type Guarantee } from './suites';

/**
 * Runs suites of other folders against three servers, and two workers once they run jobs, with load
 * at the same time; only in `npm run test:long`.
 */
export function againstFleet(guarantee: Guarantee): void {
  const inLong = repetitions(0, 1) > 0;
  if (!inLong) test.skip('only in npm run test:long', () => undefined);
  // Read by createWorld, in the hooks of the suites.
  else runSuites(GUARANTEES[guarantee], () => void (process.env.TEST_FLEET = 'yes'));
}
