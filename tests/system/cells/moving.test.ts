import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  addCellOn,
  isolate,
  listCells,
  moveCellTo,
  rebalance,
} from '../../../src/operate/cells/manage';
import { onCluster, onDistributedDatabases, run } from '../../support/citus';
import { TYPESCRIPT } from '../../support/process';
import { createWorld, type Company, type World } from '../../support/world';

// Cells that move, and companies that get a cell of their own, while they are used. A process
// learns of it within about a second; meanwhile requests may be answered 503, and nothing else may
// fail.

onCluster(() => {
  let world: World;
  let coordinator: string;
  let neighbor: Company;

  beforeAll(async () => {
    onDistributedDatabases();
    world = await createWorld();
    coordinator = world.database.DATABASE_URL!;
    neighbor = await world.addCompany('Neighbor');
  });
  afterAll(() => world.close());

  /** A node with data where a cell is not. */
  const otherNode = async (cell: number) => {
    const here = (await listCells(coordinator)).find((entry) => entry.cell === cell)!.node;
    const nodes = await run<{ node: string }>(
      coordinator,
      "SELECT nodename || ':' || nodeport AS node FROM pg_dist_node WHERE shouldhaveshards",
    );
    return nodes.find(({ node }) => node !== here)!.node;
  };
  const findCell = async ({ id }: Company) => {
    const [row] = await run<{ cell_id: number }>(
      coordinator,
      `SELECT cell_id FROM directory.companies WHERE company_id = ${id}`,
    );
    return row!.cell_id;
  };
  const listUuids = async ({ api }: Company): Promise<string[]> => {
    const all: string[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await api('get', 'calls', { query: { page, per_page: 200 } });
      if (body.calls.length === 0) return all;
      all.push(...body.calls.map(({ uuid }: { uuid: string }) => uuid));
    }
  };

  /** Calls of a company, one after the other, until it is stopped. */
  async function startCalls({ api }: Company) {
    const { body } = await api('post', 'buyers', { body: { name: 'B', number: '+12125550199' } });
    const offer = await api('post', 'offers', {
      body: { name: 'O', buyer_ids: [body.buyer.id] },
    });
    const stopping = new AbortController();
    const statuses = new Map<number, number>();
    const uuids: string[] = [];
    const work = (async () => {
      for (let n = 0; !stopping.signal.aborted; n += 1) {
        const callerNumber = `+1213555${String(n % 10_000).padStart(4, '0')}`;
        const callBody = { offer_id: offer.body.offer.id, caller_number: callerNumber };
        const res = await api('post', 'call_sessions', { body: callBody });
        statuses.set(res.status, (statuses.get(res.status) ?? 0) + 1);
        if (res.status === 201) uuids.push(res.body.call_session.uuid);
        if (res.status === 503) expect(res.headers['retry-after']).toBeDefined();
        await pause(20);
      }
    })();
    return {
      stop: async () => {
        stopping.abort();
        await work;
        return { statuses, uuids };
      },
    };
  }

  /** While the work runs, a company takes calls. */
  async function runUnderLoad(company: Company, work: () => Promise<unknown>) {
    const load = await startCalls(company);
    await work();
    await pause(1_500);
    const after = await load.stop();
    expect([...after.statuses.keys()].filter((status) => status !== 201 && status !== 503)).toEqual(
      [],
    );
    const storedUuids = new Set(await listUuids(company));
    expect(after.uuids.filter((uuid) => !storedUuids.has(uuid))).toEqual([]);
    expect(after.uuids.length).toBeGreaterThan(20);
    return after;
  }

  test('a cell moves to another node and back: no call that was answered is lost', async () => {
    const cell = await findCell(world.company);
    for (let turn = 0; turn < 2; turn += 1) {
      const target = await otherNode(cell);
      await runUnderLoad(world.company, async () => {
        expect(await moveCellTo(coordinator, cell, target)).toMatchObject({
          node: target,
          state: 'open',
        });
      });
    }
    const ids = (await world.sql<{ id: string }>('SELECT id FROM calls')).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('a company of another cell notices nothing of a move', async () => {
    const cell = await findCell(world.company);
    const { statuses } = await runUnderLoad(neighbor, async () =>
      moveCellTo(coordinator, cell, await otherNode(cell)),
    );
    expect([...statuses.keys()]).toEqual([201]);
  });

  test('jobs that wait go with their cell', async () => {
    const cell = await findCell(world.company);
    const waiting = `SELECT count(*)::int AS n FROM jobs.job
      WHERE expires_at IS NULL AND company_id = '${world.company.id}'`;
    const list = await world.company.api('post', 'buyer_suppressions', { body: { name: 'L' } });
    await world.company.api('delete', `buyer_suppressions/${list.body.buyer_suppression.id}`);
    const [before] = await world.sql<{ n: number }>(waiting);
    expect(before!.n).toBeGreaterThan(0);
    await moveCellTo(coordinator, cell, await otherNode(cell));
    await pause(1_500);
    expect(await world.sql(waiting)).toEqual([before]);
    expect(await run(coordinator, waiting)).toEqual([{ n: 0 }]);
  });

  test('a command that is killed while it moves a cell loses nothing; the next ends it', async () => {
    const cell = await findCell(world.company);
    const target = await otherNode(cell);
    await runUnderLoad(world.company, async () => {
      const child = spawn(
        'node',
        [...TYPESCRIPT, 'src/main/cli/index.ts', 'cells', 'move', String(cell), target],
        {
          cwd: join(__dirname, '../../..'),
          env: {
            PATH: process.env.PATH,
            DATABASE_URL: coordinator,
          } as unknown as NodeJS.ProcessEnv,
          stdio: 'ignore',
        },
      );
      const gates = `SELECT FROM pg_prepared_xacts WHERE database = current_database()
        AND gid LIKE 'trunkline gate of %'`;
      while ((await run(coordinator, gates)).length === 0) await pause(50);
      await pause(2_000);
      child.kill('SIGKILL');
      expect((await run(coordinator, gates)).length).toBe(1);
      await addCellOn(coordinator);
      expect(await run(coordinator, gates)).toEqual([]);
    });
    const listedCell = (await listCells(coordinator)).find((entry) => entry.cell === cell)!;
    expect(listedCell.state).toBe('open');
    expect(listedCell.node).not.toBe(target);
  });

  test('a company gets a cell of its own, with all of its rows, and nobody else is added', async () => {
    // Otherwise it would be alone already, in the cell that was added.
    await world.addCompany('Beside');
    const company = await world.addCompany('Large');
    const from = await findCell(company);
    const { uuids } = await runUnderLoad(company, () => isolate(coordinator, String(company.id)));
    expect(uuids.length).toBeGreaterThan(0);
    const cell = await findCell(company);
    expect(cell).not.toBe(from);
    expect((await listCells(coordinator)).find((entry) => entry.cell === cell)).toMatchObject({
      companies: 1,
      takes_companies: false,
      state: 'open',
    });
    const left = await run(
      coordinator,
      `SELECT FROM cell_${from}.calls WHERE company_id = ${company.id}`,
    );
    expect(left).toEqual([]);
    for (let n = 0; n < 3; n += 1)
      expect(await findCell(await world.addCompany(`Small ${n}`))).not.toBe(cell);
  });

  test('rebalancing says what it would move, and moves it', async () => {
    const cells = await listCells(coordinator);
    const [first] = cells;
    for (const { cell, node } of cells)
      if (node !== first!.node) await moveCellTo(coordinator, cell, first!.node);
    const planned = await rebalance(coordinator, { apply: false, moved: () => undefined });
    expect(planned.length).toBeGreaterThan(0);
    const moved = await rebalance(coordinator, { apply: true, moved: () => undefined });
    expect(moved).toEqual(planned);
    const nodes = new Set((await listCells(coordinator)).map(({ node }) => node));
    expect(nodes.size).toBe(2);
  });
});
