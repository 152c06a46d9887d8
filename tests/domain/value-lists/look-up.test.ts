import type { Sql } from '../../../src/data/sql';
import { combineNeeds } from '../../../src/platform/tokens/filter-needs';
import { passesFilters } from '../../../src/platform/tokens/filters';
import { ownTokens } from '../../../src/platform/tokens/substitute';
import { lookUpForFilters } from '../../../src/domain/value-lists/look-up';
import { FIND_MEMBERS } from '../../../src/domain/value-lists/queries/value-lists';
import { useWorld } from '../../support/use-world';

const world = useWorld();
beforeAll(async () => {
  for (const name of ['Even', 'Odd'])
    await world.company.api('post', 'value_lists', {
      body: {
        name,
        values: Array.from({ length: 5_000 }, (_, n) => String(n * 2 + (name === 'Odd' ? 1 : 0))),
      },
    });
});

/** The database, with a count of the statements. */
function buildCountingSql() {
  const count = { statements: 0 };
  const sql = ((...args: Parameters<Sql>) => {
    count.statements++;
    return world.deps.database.sql(...args);
  }) as Sql;
  return { sql, count };
}

test('all filters of all decisions together are looked up by one statement', async () => {
  const filters = Array.from({ length: 50 }, (_, n) => [
    `zip:in_list ${n % 2 ? 'odd' : 'EVEN'}`,
    `other:not in_list even`,
  ]);
  const otherCompany = await world.addCompany();
  const deciding = Array.from({ length: 40 }, (_, n) => ({
    company_id: n === 39 ? otherCompany.id : world.company.id,
    tokens: ownTokens({ zip: n, other: n + 1 }),
    needs: combineNeeds(filters),
  }));
  const { sql, count } = buildCountingSql();
  await lookUpForFilters(sql, deciding);
  expect(count.statements).toBe(1);
  const passed = deciding.map(({ tokens }) => [
    passesFilters(['zip:in_list Even'], tokens),
    passesFilters(['zip:in_list Odd'], tokens),
    passesFilters(['other:not in_list Even'], tokens),
  ]);
  expect(passed.slice(0, 39)).toEqual(
    Array.from({ length: 39 }, (_, n) => [n % 2 === 0, n % 2 === 1, n % 2 === 0]),
  );
  // The other company has no such lists.
  expect(passed[39]).toEqual([false, false, true]);
});

test('nothing is asked of the database where no filter needs it', async () => {
  const { sql, count } = buildCountingSql();
  const tokens = ownTokens({ zip: '1' });
  await lookUpForFilters(sql, [
    { company_id: world.company.id, tokens, needs: combineNeeds([['zip:1', 'state:in CA']]) },
    { company_id: world.company.id, tokens, needs: combineNeeds([['gone:in_list Even']]) },
  ]);
  expect(count.statements).toBe(0);
});

test('a value is found by an index, not by a scan of its list', async () => {
  await world.sql('VACUUM ANALYZE list_values');
  const values: Record<string, unknown> = {
    company_ids: [String(world.company.id)],
    keys: ['even'],
    values: ['90210'],
  };
  const plan = await world.sql(
    `EXPLAIN ${FIND_MEMBERS.text}`,
    FIND_MEMBERS.parameters.map((name) => values[name]),
  );
  const text = JSON.stringify(plan);
  expect(text).toContain('list_values_pkey');
  expect(text).not.toContain('Seq Scan on list_values');
});
