import { createRequire } from 'node:module';
import { join } from 'node:path';

const load = createRequire(__filename);

/** Suites of other folders that say what is guaranteed, for other ways to run the service. */
export const GUARANTEES = {
  foundation: ['domain/buyers/buyers', 'domain/buyers/buyer-groups', 'api/idempotency'],
  suppression: ['domain/suppression/lists', 'domain/suppression/files'],
  leads: ['domain/leads/leads', 'domain/leads/contacts'],
  calls: ['domain/calls/calls', 'domain/calls/reports'],
  people: ['domain/people/users', 'domain/people/access-control-lists'],
} as const;
export type Guarantee = keyof typeof GUARANTEES;

/** Runs suites of other folders; `prepare` runs before their hooks. */
export function runSuites(suites: readonly string[], prepare: () => void): void {
  for (const suite of suites)
    describe(suite, () => {
      beforeAll(prepare);
      load(join(__dirname, '..', `${suite}.test.ts`));
    });
}
