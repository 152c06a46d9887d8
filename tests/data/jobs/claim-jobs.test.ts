import { claimer } from '../../../src/data/jobs/workers';
import { useWorld } from '../../support/use-world';

// The share of a company in the jobs that the fleet runs: half of the slots of each process, and no
// turn before a company of which fewer jobs run.

const world = useWorld({ fresh: 'world' });

const NAME = 'forget_number';
const add = (companyId: string, count: number) =>
  world.sql(
    `INSERT INTO jobs.job (name, data)
    SELECT $1, jsonb_build_object('company_id', $2::text, 'id', n::text)
    FROM generate_series(1, $3) n`,
    [NAME, companyId, count],
  );
const finish = (ids: string[]) =>
  world.sql('DELETE FROM jobs.job WHERE id = ANY($1::uuid[])', [ids]);
const openProcess = () => claimer(world.deps.database.sql, { name: NAME });
const listCompanies = (jobs: readonly { company_id: string }[]) =>
  jobs.map(({ company_id }) => company_id);

test('a company that floods gets half of the places, and leaves the others free', async () => {
  await add('7', 100);
  const claim = openProcess();
  const first = await claim({ free: 4, company_max: 2, running: [] });
  expect(listCompanies(first.jobs)).toEqual(['7', '7']);
  const second = await claim({ free: 2, company_max: 2, running: first.jobs });
  expect(second.jobs).toEqual([]);
  await add('8', 1);
  const third = await claim({ free: 2, company_max: 2, running: first.jobs });
  expect(listCompanies(third.jobs)).toEqual(['8']);
});

test('who has fewer running in all processes is first, whoever came first', async () => {
  await add('1', 50);
  const [claimFirst, claimSecond] = [openProcess(), openProcess()];
  await claimFirst({ free: 4, company_max: 4, running: [] });
  await add('2', 2);
  await add('3', 3);
  const { jobs } = await claimSecond({ free: 6, company_max: 4, running: [] });
  expect(listCompanies(jobs).toSorted()).toEqual(['1', '2', '2', '3', '3', '3'].toSorted());
});

test('with one place, companies take turns', async () => {
  for (const [company, count] of [
    ['10', 30],
    ['9', 3],
    ['11', 3],
  ] as const)
    await add(company, count);
  const claim = openProcess();
  const served: string[] = [];
  for (let n = 0; n < 9; n++) {
    const { jobs } = await claim({ free: 1, company_max: 1, running: [] });
    served.push(...listCompanies(jobs));
    await finish(jobs.map(({ id }) => id));
  }
  expect(served.toSorted()).toEqual(['10', '10', '10', '11', '11', '11', '9', '9', '9']);
  expect(new Set(served.slice(0, 3)).size).toBe(3);
});

test('a job is claimed once, however many processes claim', async () => {
  await add('1', 40);
  const claims = [openProcess(), openProcess(), openProcess()];
  const ids: string[] = [];
  while (ids.length < 40) {
    const claimed = await Promise.all(
      claims.map((claim) => claim({ free: 3, company_max: 3, running: [] })),
    );
    ids.push(...claimed.flatMap(({ jobs }) => jobs.map(({ id }) => id)));
  }
  expect(new Set(ids).size).toBe(40);
  const secondClaim = await claims[0]!({ free: 3, company_max: 3, running: [] });
  expect(secondClaim).toEqual({ jobs: [], is_contended: false });
});

test('a job that waits for its time holds up no company, nor its own', async () => {
  await add('1', 5);
  await world.sql(`UPDATE jobs.job SET due_at = now() + interval '1 hour'`);
  await add('1', 1);
  await add('2', 1);
  const { jobs } = await openProcess()({ free: 4, company_max: 2, running: [] });
  expect(listCompanies(jobs)).toEqual(['1', '2']);
});
