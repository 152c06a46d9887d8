import { statements } from '../../src/data/sql';
import { template } from '../../src/data/statement';
import { useWorld } from '../support/use-world';

// Names of prepared statements never run out, and no connection keeps plans without a bound: the
// registered statements, which are as many as the code has, and at most 800 composed ones.

const MAX_COMPOSED = 800;
const COUNT_PLANS = `SELECT count(*)::int AS n FROM pg_prepared_statements
  WHERE name ~ '^s[0-9]+$'`;

const world = useWorld();

test('a thousand shapes of lists leave a bounded number of plans on each connection', async () => {
  const { prepared } = world.deps.database;
  const names = new Map<string, string>();
  let most = 0;
  for (let n = 0; n < 1_100; n++) {
    const bind = template(`SELECT ${n} AS n, {company_id}::bigint AS company_id`, {
      prepared: true,
    });
    for (let time = 0; time < 2; time++) {
      const bound = bind({ company_id: world.company.id });
      const { rows } = await prepared.query(bound);
      expect(rows).toEqual([{ n, company_id: String(world.company.id) }]);
      if (bound.name === undefined) continue;
      expect(names.get(bound.name) ?? bound.text).toBe(bound.text);
      names.set(bound.name, bound.text);
    }
    if (n % 50 > 0) continue;
    const { rows } = await prepared.query<{ n: number }>(COUNT_PLANS);
    const plans = rows[0];
    most = Math.max(most, plans!.n);
  }
  expect(names.size).toBe(1_100);
  expect(most).toBeGreaterThan(500);
  expect(most).toBeLessThanOrEqual(MAX_COMPOSED + 1);
});

test('names of registered statements are no names of composed ones', () => {
  expect(statements.size).toBeGreaterThan(100);
  for (const name of statements.keys()) expect(name).toMatch(/^\w+\./);
});
