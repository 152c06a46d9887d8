import { recordUsage } from './record-usage';
import { loadCallCandidates } from '../../src/domain/routing/candidates';
import { loadCandidates } from '../../src/domain/routing/load-candidates';
import { evaluateCandidate, MONDAY } from './candidates';
import { createRecord } from './records';
import { openWorld } from './use-world';

export const CALLER = '12125550199';

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
    const call = {
      source: { offer_id: String(offer) },
      number: Number(CALLER),
      traffic_source_id: null,
    };
    const [context] = await loadCallCandidates(db(), [call], clock.read());
    const routed = context!.candidates;
    expect(routed).toEqual(await loadCandidates(db(), offer, CALLER, clock.read()));
    return routed;
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
