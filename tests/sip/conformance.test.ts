import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCENARIOS } from '../../src/main/conformance/scenarios';
import type { CallPlan, PlacedCall } from '../../src/main/conformance/stage';
import { ADAPTER, buildUrl, openConformance, playNamed } from '../support/conformance';
import { openWorld } from '../support/use-world';
import { startKamailio } from './support/kamailio';
import { missingPrograms } from './support/programs';
import { placeCalls, startUas, type PlacedCalls } from './support/sides';

// The conformance client, and the Kamailio of the example.

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
    return { ended, hangUp: () => void hangUp() };
  };

const REFUSED = '486';

async function follow(
  calls: PlacedCalls,
  { talk_seconds, expected }: CallPlan,
  hangUp: () => Promise<void>,
): Promise<string | undefined> {
  if (expected !== REFUSED) await calls.until('answered');
  if (talk_seconds !== null) void sleep(talk_seconds * 1000).then(hangUp);
  await calls.finish();
  const sign = expected === REFUSED ? `refused ${expected}` : 'answered';
  return calls.log().includes(sign) ? undefined : `the caller was not ${sign}`;
}

/** Kamailio has no disk for events: the sync of its next process ends such calls. */
const LOST = 'an end is reported by the next process';

const missing = missingPrograms();

(missing ? test.skip : test)(
  'the Kamailio of the example does what the checklist says',
  async () => {
    const world = await openWorld();
    const { closeLater } = world;
    try {
      const uas = async (kind: Parameters<typeof startUas>[0]) => {
        const side = await startUas(kind);
        closeLater(() => side.stop());
        return side;
      };
      const [answers, busy] = [await uas('answers'), await uas('486 Busy Here')];
      const [rings, refuses] = [await uas('rings'), await uas('503 Service Unavailable')];
      let port = 0;
      const stage = await openConformance(world.deps, {
        ...{ answers: '+12125550161', busy: busy.address, rings: rings.address },
        trunks: [`127.0.0.1:${refuses.port}`, `127.0.0.1:${answers.port}`],
        ...{ places_calls: false, talk_seconds: 2, patience: { prompt: 60, sync: 60 } },
        placeCall: createCaller(() => port, closeLater),
      });
      closeLater(stage.close);
      const api = buildUrl(stage);
      [api.username, api.password] = ADAPTER.key.split(':') as [string, string];
      const kamailio = await startKamailio({
        ...{ API: api.href, SWITCH: ADAPTER.name, SYNC_SECONDS: 2, OVERFLOW_URI: answers.address },
        GATEWAY: `127.0.0.1:${answers.port}`,
      });
      closeLater(kamailio.stop);
      port = kamailio.port;
      stage.restart = kamailio.restart;
      const chosen = SCENARIOS.map(({ name }) => name).filter((name) => name !== LOST);
      const verdicts = await playNamed(stage, chosen);
      const others = verdicts.filter(({ result }) => result !== 'ok');
      expect(others.map(({ name, result, reason }) => [name, result, reason])).toEqual([
        ['keys are played to the buyer', 'failed', expect.stringContaining('without media')],
        ['a person is called once', 'not_seen', expect.any(String)],
      ]);
    } finally {
      await world.close();
    }
  },
);
