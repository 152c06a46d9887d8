import { createRequire } from 'node:module';
import { join } from 'node:path';
import { repetitions } from './repetitions';

const load = createRequire(__filename);

/**
 * Runs suites of other folders against three servers, and two workers once they run jobs, with load
 * beside them; only in `npm run test:long`.
 */
export function againstFleet(suites: string[]): void {
  const in_long = repetitions(0, 1) > 0;
  if (!in_long) test.skip('only in npm run test:long', () => undefined);
  for (const suite of in_long ? suites : [])
    describe(suite, () => {
      // Read by createWorld, in the hooks of the suite.
      beforeAll(() => void (process.env.TEST_FLEET = 'yes'));
      load(join(__dirname, '..', `${suite}.test.ts`));
    });
}
