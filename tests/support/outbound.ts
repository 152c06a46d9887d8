import { applyCalls } from '../../src/domain/leads/apply-calls';
import { playSandboxCall } from '../../src/domain/telephony/play-sandbox-call';
import { loadLeadRow, openShop, runEngine, loadStory, submit } from './leads';
import { outreachAtNoon } from './outreach-at-noon';
import type { Fields } from './records';

/** The person who is called answers; see the sandbox's numbers for others. */
export const PERSON = '3105550123';
export const MACHINE = '3105550109';
export const BUSY = '+12125550105';

/** A dial whose calls are routed to the buyers of the offer. */
export const ROUTED = { action_type: 'dial' };

/** Leads that a schedule calls for the buyers of an offer, at the sandbox. */
export function outboundCalls() {
  const env = outreachAtNoon();
  const { ok, world } = env;

  const buyer = (fields: Fields = {}) =>
    world.create('buyers', { name: 'Acme', number: '+12125550122', ...fields });

  /** An offer with buyers, a schedule of it, and a lead; the engine has not run yet. */
  const shop = async (
    buyers: readonly number[],
    { actions = [ROUTED], offer = {}, lead = {} }: Shopping = {},
  ) => {
    const setup = await openShop(world, actions);
    await ok('put', `offers/${setup.offer.id}`, { buyer_ids: buyers, ...offer });
    const res = await submit(world, setup.schedule.lead_token, { caller_id: PERSON, ...lead });
    return { ...setup, offer: setup.offer.id, lead: res.body.id as number };
  };

  /** Runs the jobs that play calls, each `times` times, and then writes calls to their leads. */
  const play = async (times = 1): Promise<number> => {
    const jobs = await world.sql<{ id: string; data: { company_id: string; uuid: string } }>(
      `DELETE FROM jobs.job WHERE name = 'play_sandbox_call' RETURNING id, data`,
    );
    for (const { data } of jobs)
      for (let n = 0; n < times; n++) await playSandboxCall(data, world.deps);
    await applyCalls(world.deps.database.pool, env.time.read());
    return jobs.length;
  };

  /** Runs the due steps, and plays the calls that follow. */
  const run = async (): Promise<void> => {
    await runEngine(world);
    await play();
  };

  /** The outbound calls of a lead as the API shows them, oldest first. */
  const calls = async (leadId: number): Promise<Fields[]> => {
    const path = `calls?lead_id=${leadId}&category=outbound&order_dir=asc`;
    return (await ok('get', path)).calls.toSorted(byId);
  };
  const attempts = async (call: Fields): Promise<[number, string][]> => {
    const { call_attempts } = await ok('get', `calls/${String(call.id)}/attempts`);
    return call_attempts.toSorted(byId).map(({ buyer_id, status }: Fields) => [buyer_id, status]);
  };
  const usage = async (buyerId: number, metric: string) => {
    const text = `SELECT ${metric} AS used FROM call_limits WHERE buyer_id = $1`;
    return (await world.sql(text, [buyerId]))[0]!.used;
  };

  return {
    env,
    ok,
    buyer,
    shop,
    play,
    run,
    calls,
    attempts,
    usage,
    lead: (id: number) => loadLeadRow(world, id),
    story: async (id: number) => (await loadStory(world, id)).slice(1),
  };
}

const byId = (a: Fields, b: Fields) => Number(a.id) - Number(b.id);

interface Shopping {
  actions?: readonly Fields[];
  offer?: Fields;
  lead?: Fields;
}
