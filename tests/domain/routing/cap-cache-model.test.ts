import { recordUsage } from '../../support/record-usage';
import type { Db } from '../../../src/data/db';
import {
  CALLER,
  candidateWorld,
  loadCandidates,
  loadInAnotherProcess,
  loadUncachedCandidates,
  type LoadedCandidate,
  type Look,
} from '../../support/candidate-world';
import { MONDAY, NEW_YORK } from '../../support/candidates';
import { repetitions } from '../../support/repetitions';

// Caps from the cache of a process equal those of a full read, whatever happened.

let setup: Awaited<ReturnType<typeof candidateWorld>>;
beforeAll(async () => void (setup = await candidateWorld()));
afterAll(() => setup.world.close());
beforeEach(() => setup.clock.set(MONDAY));

const DAY = 86_400_000;
/** No spacing is longer than a day. */
const normalizeCandidates = (candidates: readonly LoadedCandidate[], now: Date) =>
  candidates.map(({ last_call_at, ...rest }) => ({
    ...rest,
    last_call_at:
      last_call_at && now.getTime() - last_call_at.getTime() < DAY ? last_call_at : null,
  }));

function createRandom(seed: number) {
  let state = seed;
  const below = (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * n);
  };
  return { below, of: <T>(all: readonly T[]): T => all[below(all.length)]! };
}

const METRICS = ['attempt', 'connection', 'buyer_conversion', 'revenue', 'earned_revenue'];
const ZONES = [NEW_YORK, 'Tokyo', 'London', 'Hawaii'];
const MOVES = [0, 1_000, 20_000, 60_000, 600_000, 3_600_000, 12 * 3_600_000, DAY, 30 * DAY];

/** Buyers and a group on two offers, and everything that may be done to them. */
async function runModel(seed: number) {
  const { below, of } = createRandom(seed);
  setup.world.company = await setup.world.addCompany();
  const { api } = setup.world.company;
  const buyers: number[] = [];
  for (let n = 0; n < 5; n++)
    buyers.push(await setup.create('buyers', { name: `${n}`, time_zone: ZONES[n % 4] }));
  const group = await setup.create('buyer_groups', { buyer_ids: buyers.slice(2) });
  const list = await setup.create('buyer_suppressions', { buyer_ids: buyers.slice(1, 3) });
  const offers = [
    await setup.create('offers', {
      ...{ buyer_ids: buyers.slice(0, 3), buyer_group_ids: [group] },
      spacing_seconds: 1,
    }),
    await setup.create('offers', { buyer_ids: buyers, spacing_seconds: 1 }),
  ];
  const processes = [loadInAnotherProcess(), loadInAnotherProcess()];
  const look = (db: Look['db'] = setup.db()) =>
    loadCandidates({ db, offer: of(offers), now: setup.clock.read(), process: of(processes) });
  const put = async (path: string, body: object) => {
    const res = await api('put', path, { body });
    if (res.status !== 200) throw new Error(`${path} ${JSON.stringify(body)} ${res.text}`);
  };
  const limits = (intervals = ['total', 'monthly', 'daily']) => ({
    [`${of(METRICS)}_${of(intervals)}_limit`]: of([null, 0, 1, 2, 3, 10]),
  });
  const usage = () => ({ [of(METRICS)]: 1 + below(2), attempt: below(2) });
  const owners = [
    ...buyers.map((id) => ({ buyer_id: BigInt(id) })),
    { buyer_group_id: BigInt(group) },
  ];
  type Owner = (typeof owners)[number];
  const count = (db: Db, owner: Owner) =>
    recordUsage(db, {
      owner,
      usage: usage(),
      concurrency: of([1, 1, -1]),
      now: setup.clock.read(),
    });
  /** Transactions that are open, by the owners whose rows they hold. */
  const open = new Map<Owner, (commits: boolean) => Promise<void>>();
  const free = (): Owner[] => owners.filter((owner) => !open.has(owner));
  const freeBuyer = () =>
    of(free().flatMap((owner) => ('buyer_id' in owner ? [owner.buyer_id] : [])));
  const openOne = async () => {
    if (open.size > 2) return;
    const owner = of(free());
    let end!: (commits: boolean) => void;
    const ended = new Promise<boolean>((resolve) => (end = resolve));
    let held!: () => void;
    const holds = new Promise<void>((resolve) => (held = resolve));
    const done = setup
      .db()
      .transaction(async (tx) => {
        if (below(2) === 0) await look(tx);
        await count(tx, owner);
        await look(tx);
        held();
        const commits = await ended;
        await look(tx);
        if (!commits) throw new Error('rolled back');
      })
      .catch((error: Error) => {
        if (error.message !== 'rolled back') throw error;
      });
    await holds;
    open.set(owner, (commits) => (end(commits), done));
  };
  const closeOne = async () => {
    if (open.size === 0) return;
    const [owner, end] = of([...open]);
    open.delete(owner);
    await end(below(2) === 0);
  };
  const hours = () =>
    of([
      [],
      [{ schedule: [], ...limits(['hourly']) }],
      [{ schedule: [{ day: 1, times: ['08:00..16:59'] }], ...limits(['hourly']) }],
    ]);
  const conversions = () => ({
    buyer_conversions_schedule: of([
      [],
      [
        {
          buyer_conversions_attributes: [
            { name: 'Call', duration: 60, revenue: of([1, 3, 9]), duplicate_timeframe: 0 },
          ],
          schedule: [],
        },
      ],
    ]),
  });
  const steps: Record<string, () => Promise<unknown>> = {
    use: () => count(setup.db(), of(free())),
    'use again': () => count(setup.db(), of(free())),
    'use many at once': () =>
      Promise.all(free().flatMap((owner) => [look(), count(setup.db(), owner), look()])),
    time: async () =>
      setup.clock.set(new Date(setup.clock.read().getTime() + of(MOVES)).toISOString()),
    limits: () => put(`buyers/${freeBuyer()}`, limits()),
    concurrency: () => put(`buyers/${freeBuyer()}`, { concurrency_cap_limit: of([null, 0, 1, 2]) }),
    hours: () => put(`buyers/${freeBuyer()}`, { business_hours_schedule: hours() }),
    conversions: () => put(`buyers/${freeBuyer()}`, conversions()),
    zone: () => put(`buyers/${freeBuyer()}`, { time_zone: of(ZONES) }),
    pause: () => put(`buyers/${freeBuyer()}`, { paused: below(2) === 0 }),
    order: () => put(`buyers/${freeBuyer()}`, { route_by_type: of(['tier', 'epc', 'revenue']) }),
    group: async () => {
      if (!open.has(owners.at(-1)!))
        await put(
          `buyer_groups/${group}`,
          of([
            limits(['total', 'monthly', 'daily', 'hourly']),
            { concurrency_cap: of([null, 0, 1, 2]) },
            { paused: below(2) === 0 },
            { time_zone: of(ZONES) },
            { buyer_ids: buyers.filter(() => below(2) === 0) },
          ]),
        );
    },
    suppress: () =>
      of([
        () => setup.block(list, CALLER),
        () => put(`buyer_suppressions/${list}`, { buyer_ids: [of(buyers)] }),
      ])(),
    offer: () => put(`offers/${of(offers)}`, { buyer_ids: buyers.filter(() => below(3) > 0) }),
    reset: async () => {
      const id = Number(freeBuyer());
      await put(`buyers/${id}`, { reset_total_caps: true });
    },
    open: openOne,
    'open another': openOne,
    close: closeOne,
    'close another': closeOne,
    call: async () => {
      // A call may take the caps of any owner.
      while (open.size > 0) await closeOne();
      const body = { offer_id: of(offers), caller_number: `+1${CALLER.slice(1)}` };
      const responses = await Promise.all(
        [1, 2, 3].map(() => api('post', 'call_sessions', { body })),
      );
      for (const { body: answer } of responses) {
        const { id, instruction } = answer.call_session;
        if (instruction.action !== 'dial') continue;
        for (const event of of([['no_answer'], ['answered', 'completed'], ['answered'], []]))
          await api('post', `call_sessions/${id}/events`, {
            body: { event, ...(event === 'completed' && { duration: 90 }) },
          });
      }
    },
  };
  const check = async () => {
    const now = setup.clock.read();
    for (const offer of offers) {
      const look = { db: setup.db(), offer, now };
      const full = normalizeCandidates(await loadUncachedCandidates(look), now);
      for (const process of processes) {
        if (below(4) === 0) continue;
        const candidates = await loadCandidates({ ...look, process });
        expect(normalizeCandidates(candidates, now)).toEqual(full);
      }
    }
  };
  return {
    step: async () => {
      const name = of(Object.keys(steps));
      await steps[name]!();
      return name;
    },
    check,
    end: async () => {
      while (open.size > 0) await closeOne();
    },
  };
}

test.each(Array.from({ length: repetitions(3, 60) }, (_, n) => n + 1))(
  'what two processes know of caps is what the database says, after any sequence (%d)',
  async (seed) => {
    const { step, check, end } = await runModel(seed);
    const done: string[] = [];
    try {
      for (let n = 0; n < 60; n++) {
        done.push(await step());
        await check();
      }
    } catch (error) {
      (error as Error).message = `after ${done.slice(-8).join(', ')}: ${(error as Error).message}`;
      throw error;
    } finally {
      await end();
    }
  },
);
