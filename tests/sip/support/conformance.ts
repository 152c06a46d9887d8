import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCENARIOS } from '../../../src/main/conformance/scenarios';
import type { CallPlan, PlacedCall } from '../../../src/main/conformance/stage';
import { ADAPTER, buildUrl, openConformance, playNamed } from '../../support/conformance';
import { openWorld, type UsedWorld } from '../../support/use-world';
import { startAdapter, type AdapterProcess, type StartedSwitch } from './adapter-world';
import { placeCalls, startUas, type PlacedCalls, type Uas, type UasKind } from './sides';

// The conformance client, and a real switch with its adapter.

/** Places calls of the plan by SIPp, at this port. */
const createCaller =
  (port: () => number, closeLater: (close: () => Promise<void>) => void) =>
  (plan: CallPlan): PlacedCall => {
    const calling = placeCalls({
      ...{ proxy: port(), number: plan.number, id_prefix: randomUUID() },
      callers: [`sip:${plan.caller}@carrier.invalid`],
    });
    closeLater(async () => (await calling).stop());
    let isHungUp = false;
    const hangUp = async () => {
      if (isHungUp) return;
      isHungUp = true;
      const calls = await calling;
      await calls.until('answered');
      await calls.hangUp();
    };
    const ended = calling.then((calls) => follow(calls, plan, hangUp));
    void ended.finally(() => (isHungUp = true));
    // A call that ends at this moment has its end in `ended`.
    return { ended, hangUp: () => void hangUp().catch(() => undefined) };
  };

const REFUSED = '486';

async function follow(
  calls: PlacedCalls,
  { talk_seconds, expected }: CallPlan,
  hangUp: () => Promise<void>,
): Promise<string | undefined> {
  if (expected !== REFUSED) await calls.until('answered');
  if (talk_seconds !== null)
    void sleep(talk_seconds * 1000)
      .then(hangUp)
      .catch(() => undefined);
  await calls.finish();
  const sign = expected === REFUSED ? `refused ${expected}` : 'answered';
  return calls.log().includes(sign) ? undefined : `the caller was not ${sign}`;
}

/** A switch whose adapter asks the conformance client. */
export interface TestedSwitch {
  sip_port: number;
  /** Ends the adapter as a crash does, and starts it again. */
  restart(): Promise<void>;
}

export interface Sides {
  /** Where the adapter asks, with its key pair. */
  api: URL;
  /** The switch dials numbers there. */
  carrier: Uas;
  /** Whatever is started ends with it. */
  world: UsedWorld;
}

export interface TestedOptions {
  /** Names of scenarios that are left out. */
  omitted?: readonly string[];
  places_calls?: boolean;
  /** Trunks are hosts, not names of the switch. */
  has_hosts?: boolean;
}

/** A busy machine is no fault. */
const PATIENT = { talk_seconds: 2, max_difference_seconds: 60, settle_seconds: 5 };

/** Starts a switch and its adapter, which asks the conformance client. */
export const startWithAdapter =
  <Switch extends StartedSwitch>(
    startSwitch: (carrier: Uas) => Promise<Switch>,
    buildAdapter: (started: Switch) => AdapterProcess,
  ) =>
  async ({ api, carrier, world }: Sides): Promise<TestedSwitch> => {
    const started = await startSwitch(carrier);
    world.closeLater(started.stop);
    const args = ['--url', api.origin, '--switch', ADAPTER.name];
    const adapter = await startAdapter(buildAdapter(started), { args, key: ADAPTER.key });
    world.closeLater(adapter.kill);
    const restart = async () => {
      await adapter.kill();
      await adapter.start();
    };
    return { sip_port: started.sip_port, restart };
  };

/** Plays the scenarios, and returns those that have not shown what they should, and why. */
export async function listFailures(
  start: (sides: Sides) => Promise<TestedSwitch>,
  { omitted = [], places_calls = false, has_hosts = false }: TestedOptions = {},
): Promise<(string | undefined)[][]> {
  const world = await openWorld({ environment: { CARRIER: 'switch' } });
  const { closeLater } = world;
  try {
    const uas = async (kind: UasKind) => {
      const side = await startUas(kind);
      closeLater(() => side.stop());
      return side;
    };
    const [carrier, busy] = [await uas('answers'), await uas('486 Busy Here')];
    const [rings, refuses] = [await uas('rings'), await uas('503 Service Unavailable')];
    const hosts = [`127.0.0.1:${refuses.port}`, `127.0.0.1:${carrier.port}`] as const;
    let port = 0;
    const stage = await openConformance(world.deps, {
      ...{ answers: '+12125550161', busy: busy.address, rings: rings.address },
      ...{ trunks: has_hosts ? hosts : undefined, places_calls, ...PATIENT },
      patience: { prompt: 60, sync: 90 },
      placeCall: createCaller(() => port, closeLater),
    });
    closeLater(stage.close);
    const api = buildUrl(stage);
    [api.username, api.password] = ADAPTER.key.split(':') as [string, string];
    const started = await start({ api, carrier, world });
    port = started.sip_port;
    stage.restart = started.restart;
    const chosen = SCENARIOS.map(({ name }) => name).filter((name) => !omitted.includes(name));
    const verdicts = await playNamed(stage, chosen);
    return verdicts
      .filter(({ result }) => result !== 'ok')
      .map(({ name, result, reason }) => [name, result, reason]);
  } finally {
    await world.close();
  }
}
