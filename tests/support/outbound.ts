import { applyCalls } from '../../src/domain/leads/apply-calls';
import { playSandboxCall } from '../../src/domain/telephony/play-sandbox-call';
import { loadLeadRow, openShop, runEngine, loadStory, submit } from './leads';
import { outreachAtNoon } from './outreach-at-noon';

type Fields = Record<string, unknown>;

/** The person who is called answers; see the sandbox's numbers for others. */
export const PERSON = '3105550123';
export const MACHINE = '3105550109';
export const BUSY = '+12125550105';

/** A dial whose calls are routed to the buyers of the offer. */
export const ROUTED = { action_type: 'dial' };

/** Leads that a schedule calls for the buyers of an offer, at the sandbox. */
export function outboundCalls() {
  const env = outreachAtNoon();
  const { ok } = env;

  const buyer = async (fields: Fields = {}) =>
    (await ok('post', 'buyers', { name: 'Acme', number: '+12125550122', ...fields })).buyer
      .id as number;

  /** An offer with buyers, a schedule of it, and a lead; the engine has not run yet. */
  const shop = async (
    buyers: readonly number[],
    { actions = [ROUTED], offer = {}, lead = {} }: Shopping = {},
  ) => {
    const setup = await openShop(env.here, actions, {}, env.here.company);
    await ok('put', `offers/${setup.offer.id}`, { buyer_ids: buyers, ...offer });
    const res = await submit(env.here, setup.schedule.lead_token, { caller_id: PERSON, ...lead });
    return { ...setup, offer: setup.offer.id, lead: res.body.id as number };
  };

  /** Runs the jobs that play calls, each `times` times, and then writes calls to their leads. */
  const play = async (times = 1): Promise<number> => {
    const jobs = await env.world.sql<{ id: string; data: { company_id: string; uuid: string } }>(
      `UPDATE jobs.job SET state = 'completed'
      WHERE name = 'play_sandbox_call' AND state = 'created'
      RETURNING id, data`,
    );
    for (const { data } of jobs)
      for (let n = 0; n < times; n++) await playSandboxCall(data, env.world.deps);
    await applyCalls(env.world.deps.database.pool, env.time.read());
    return jobs.length;
  };

  /** Runs the due steps, and plays the calls that follow. */
  const run = async (): Promise<void> => {
    await runEngine(env.here);
    await play();
  };

  /** The outbound calls of a lead as the API shows them, oldest first. */
  const calls = async (leadId: number) =>
    (
      (await ok('get', `calls?lead_id=${leadId}&category=outbound&order_dir=asc`)).calls as Fields[]
    ).toSorted((a, b) => Number(a.id) - Number(b.id));
  const attempts = async (call: Fields) =>
    (
      (await ok('get', `calls/${String(call.id)}/attempts`)).call_attempts as {
        id: number;
        buyer_id: number;
        status: string;
      }[]
    )
      .toSorted((a, b) => a.id - b.id)
      .map(({ buyer_id, status }) => [buyer_id, status]);
  const usage = async (buyerId: number, metric: string) =>
    (await env.world.sql(`SELECT ${metric} FROM call_limits WHERE buyer_id = $1`, [buyerId]))[0]![
      metric
    ];

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
    lead: (id: number) => loadLeadRow(env.world, id),
    story: async (id: number) => (await loadStory(env.world, id)).slice(1),
  };
}

interface Shopping {
  actions?: readonly Fields[];
  offer?: Fields;
  lead?: Fields;
}
