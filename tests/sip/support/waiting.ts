import { setTimeout as sleep } from 'node:timers/promises';
import { FAR_MS, patient } from '../../support/patience';

/** Far more than it takes, so that only what never comes fails; a busy machine gets more. */
const MIN_DEADLINE_MS = 90_000;

/** Whatever has just begun is often over at once; each look at the rest costs the machine time. */
const [FIRST_POLL_MS, LAST_POLL_MS] = [50, 500];

/** Waits until `read` returns something, and returns it. `describe` says what there is instead. */
export async function waitUntil<T>(
  name: string,
  read: () => Promise<T | undefined> | T | undefined,
  describe: () => string = () => '',
): Promise<T> {
  const deadline = Date.now() + Math.min(FAR_MS, Math.max(MIN_DEADLINE_MS, patient(30_000)));
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(LAST_POLL_MS, pause * 1.5)) {
    const value = await read();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`it never came to: ${name}\n${describe()}`);
    await sleep(pause);
  }
}
