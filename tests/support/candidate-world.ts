import { createRequire } from 'node:module';
import type { Db } from '../../src/data/db';
import { recordUsage } from './record-usage';
import * as Routing from '../../src/domain/routing/context';
import type { Candidate } from '../../src/domain/routing/engine/candidate';
import { evaluateCandidate, MONDAY } from './candidates';
import { createRecord } from './records';
import { openWorld } from './use-world';

export const CALLER = '12125550199';

const CACHES = ['context', 'snapshot'].map((name) =>
  require.resolve(`../../src/domain/routing/${name}`),
);

/** The modules of routing as another process has them, with caches of its own. */
export function loadInAnotherProcess(): typeof Routing {
  const cachedModules = CACHES.map((path) => [path, require.cache[path]] as const);
  for (const path of CACHES) Reflect.deleteProperty(require.cache, path);
  const loaded = createRequire(__filename)(CACHES[0]!) as typeof Routing;
  for (const [path, cachedModule] of cachedModules) require.cache[path] = cachedModule;
  return loaded;
}

export interface Look {
  db: Pick<Db, 'company_id' | 'key' | 'sql'> & Partial<Pick<Db, 'batched'>>;
  offer: number | string;
  number?: string;
  now: Date;
  /** The process that looks; by default this one, with what it has cached. */
  process?: typeof Routing;
}

/** The buyers of an offer for a call; none when the company has no such offer. */
/** The last call is known for an offer with spacing. */
export type LoadedCandidate = Candidate & { last_call_at?: Date | undefined };

export async function loadCandidates({
  db,
  offer,
  number = CALLER,
  now,
  process = Routing,
}: Look): Promise<readonly LoadedCandidate[]> {
  const context = await process.loadRouting(db as Db, {
    source: { offer_id: String(offer) },
    number: Number(number),
    traffic_source_id: null,
    now,
  });
  const { candidates = [], last_calls } = context ?? {};
  if (!last_calls?.size) return candidates;
  return candidates.map((candidate) => ({
    ...candidate,
    last_call_at: last_calls.get(candidate.id),
  }));
}

/** Reads them as a process does that has nothing cached. */
export const loadUncachedCandidates = (look: Look): Promise<readonly LoadedCandidate[]> =>
  loadCandidates({ ...look, process: loadInAnotherProcess() });

/** Buyers and offers of a company, and the candidates that are read of them. */
export async function candidateWorld() {
  const world = await openWorld({ clock: MONDAY });
  const { clock } = world;
  const db = () => world.deps.tenants.of(world.company.id);
  const create = async (plural: string, body = {}, company = world.company): Promise<number> => {
    const number = plural === 'buyers' && { number: '+12125550100' };
    return (await createRecord(company.api, plural, { name: plural, ...number, ...body })).id;
  };
  const block = (list: number, ...numbers: string[]) =>
    world.api('post', `buyer_suppressions/${list}/caller_block`, {
      body: { caller_ids: numbers.map((number) => `+${number}`) },
    });
  const createOffer = (...buyerIds: number[]) => create('offers', { buyer_ids: buyerIds });
  /** Reads the candidates for calls, from the cache and what changed, and compares a full read. */
  const load = async (offer: number) => {
    const look = { db: db(), offer, now: clock.read() };
    const candidates = await loadCandidates(look);
    expect(candidates).toEqual(await loadUncachedCandidates(look));
    return candidates;
  };
  const used = async (offer: number) => (await load(offer))[0]!.used_up;
  const reasons = async (offer: number) =>
    Object.fromEntries(
      (await load(offer)).map((candidate) => [
        candidate.name,
        evaluateCandidate(candidate, clock.read().toISOString()).reason,
      ]),
    );
  const at = (now: string, offer: number) => (clock.set(now), reasons(offer));
  const use = (id: number, usage: object, concurrency = 0) =>
    recordUsage(db(), { owner: { buyer_id: BigInt(id) }, usage, concurrency, now: clock.read() });
  return { world, clock, db, create, block, createOffer, load, used, reasons, at, use };
}
