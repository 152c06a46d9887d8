import { setTimeout as sleep } from 'node:timers/promises';
import { SCENARIOS, type Scenario } from './scenarios';
import { Fault, findRefusal, mark, NotSeen, type Stage } from './stage';

/** The result of a scenario. */
export interface Verdict extends Pick<Scenario, 'name' | 'item'> {
  /** `not_seen`: it could not be tried. */
  result: 'ok' | 'failed' | 'not_seen';
  /** Why it is not ok. */
  reason?: string | undefined;
}

/** Plays the scenarios one after the other, and passes on each verdict when it is there. */
export async function playScenarios(
  stage: Stage,
  report: (verdict: Verdict) => void,
  scenarios: readonly Scenario[] = SCENARIOS,
): Promise<void> {
  for (const { name, item, run } of scenarios) {
    stage.since = mark(stage);
    const outcome = await judge(() => run(stage));
    await endCalls(stage);
    const refusal = findRefusal(stage);
    // The rest may not have happened because of it.
    const fault = { result: 'failed', reason: refusal } as const;
    report({ name, item, ...(refusal === undefined ? outcome : fault) });
  }
}

/** The calls of a scenario are over before the next begins. */
async function endCalls({ calls, patience }: Stage): Promise<void> {
  const ending = calls.splice(0).map(async ({ ended, hangUp }) => {
    hangUp();
    await Promise.race([ended, sleep(patience.prompt * 1000, undefined, { ref: false })]);
  });
  await Promise.all(ending);
}

async function judge(run: () => Promise<void>): Promise<Pick<Verdict, 'result' | 'reason'>> {
  try {
    await run();
    return { result: 'ok' };
  } catch (error) {
    if (error instanceof Fault) return { result: 'failed', reason: error.message };
    if (error instanceof NotSeen) return { result: 'not_seen', reason: error.message };
    throw error;
  }
}
