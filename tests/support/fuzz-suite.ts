import fc from 'fast-check';
import { contract, type Operation } from '../../src/platform/contract/contract';
import { createFixture, type Fixture } from './example';
import { buildRequests, sendDraft } from './fuzz';
import { useWorld } from './use-world';

/**
 * Declares a test of so many runs for each of the operations: any value in any parameter, header or
 * field gets a response that the contract promises, and never an internal error.
 */
export function fuzz(isMeant: (operation: Operation) => boolean, runs: number): void {
  jest.setTimeout(600_000);
  const world = useWorld({
    environment: { RATE_LIMIT_PER_MINUTE: '0', LEAD_RATE_LIMIT_PER_MINUTE: '0' },
  });
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture(world);
  });

  const meant = contract.operations.filter(isMeant);
  test.each(meant.map((operation) => [operation.id, operation] as const))(
    '%s',
    async (_, operation) => {
      await fc.assert(
        fc.asyncProperty(buildRequests(operation), async (draft) => {
          const res = await sendDraft(fixture, operation, draft);
          expect([res.status, res.status < 500 ? '' : res.text]).toEqual([expect.any(Number), '']);
          if (res.status === 422) expect(Object.keys(res.body.errors).length).toBeGreaterThan(0);
        }),
        { numRuns: runs * Number(process.env.FUZZ_TIMES ?? 1) },
      );
    },
  );
}
