import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { playScenarios, type Verdict } from '../../src/main/conformance/run';
import { SCENARIOS } from '../../src/main/conformance/scenarios';
import { openStage, type Stage, type Surroundings } from '../../src/main/conformance/stage';
import type { Deps } from '../../src/domain/deps';
import { buildApp } from './world';

export const ADAPTER = { key: 'adapter:secret', name: 'model' };

let number = 12125550200;

/** A service of these dependencies, and a stage before it. */
export async function openConformance(deps: Deps, surroundings: Surroundings): Promise<Stage> {
  const server = createServer(buildApp(deps));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
  const stage = await openStage({
    ...{ ...surroundings, deps, key: ADAPTER.key, switch_name: ADAPTER.name },
    ...{ number: `+${number++}`, caller: '+13105550190', door: { host: '127.0.0.1', port: 0 } },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  return {
    ...stage,
    close: async () => {
      await stage.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Where an adapter asks. */
export const buildUrl = ({ door }: Stage): URL => new URL(`http://127.0.0.1:${door.port}/api/v1`);

/** Plays scenarios by their names, or all, and returns what they have shown. */
export async function playNamed(stage: Stage, names?: readonly string[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const chosen = SCENARIOS.filter(({ name }) => names?.includes(name) ?? true);
  await playScenarios(stage, (verdict) => void verdicts.push(verdict), chosen);
  return verdicts;
}
