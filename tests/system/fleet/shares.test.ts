import { eventually } from '../../support/engine-process';
import { finished, numberAt } from '../../support/imports';
import { buildEnvironment, startJobProcess } from '../../support/job-process';
import { repetitions } from '../../support/repetitions';
import { createWorld, type Company, type World } from '../../support/world';

// Two processes run the imports of a company that floods and of one that comes later. They take
// half a minute: only `npm run test:long` starts them.

const PROCESSES = 2;
/** Half of what each process runs at a time. */
const SHARE = 2;
const FILES = 12;
const ROWS = 20_000;

let world: World;
beforeAll(async () => void (world = await createWorld()));
afterAll(() => world.close());

const csv = `phone\n${Array.from({ length: ROWS }, (_, n) => numberAt(n)).join('\n')}\n`;
const upload = async ({ api }: Company, name: string): Promise<number> => {
  const form = { name, import_file: Buffer.from(csv) };
  return (await api('post', 'buyer_suppressions', { form })).body.buyer_suppression.id;
};
const countRunning = async () =>
  Object.fromEntries(
    (
      await world.sql<{ company: string; n: number }>(
        `SELECT company_id AS company, count(*)::int AS n FROM jobs.job
        WHERE name = 'import_suppression_file' AND expires_at > now() GROUP BY 1`,
      )
    ).map(({ company, n }) => [company, n]),
  );

const withProcesses = repetitions(0, PROCESSES) > 0 ? test : test.skip;

withProcesses(
  'of the imports of a fleet, a company has at most half, and another none to wait for',
  async () => {
    const { company } = world;
    const otherCompany = await world.addCompany();
    const flood: number[] = [];
    for (let n = 0; n < FILES; n++) flood.push(await upload(company, `Flood ${n}`));
    const environment = buildEnvironment(world);
    await Promise.all(
      Array.from({ length: PROCESSES }, () => startJobProcess(environment, world.processes)),
    );
    let most = 0;
    let isOver = false;
    const watching = (async () => {
      while (!isOver) most = Math.max(most, (await countRunning())[String(company.id)] ?? 0);
    })();
    await eventually(
      async () => ((await countRunning())[String(company.id)] ?? 0) >= PROCESSES * SHARE,
    );
    const id = await upload(otherCompany, 'Another');
    expect((await finished(otherCompany.api, `buyer_suppressions/${id}`)).status).toBe('succeeded');
    const rest = await world.sql(
      `SELECT FROM buyer_suppression_files WHERE company_id = $1 AND status <> 'succeeded'`,
      [company.id],
    );
    expect(rest.length).toBeGreaterThan(0);
    for (const list of flood)
      expect((await finished(company.api, `buyer_suppressions/${list}`)).status).toBe('succeeded');
    isOver = true;
    await watching;
    expect(most).toBe(PROCESSES * SHARE);
  },
);
