import { setTimeout as sleep } from 'node:timers/promises';

/** Far more than a busy machine needs, so that only what never comes fails. */
const DEADLINE_MS = 90_000;

const POLL_MS = 100;

/** Waits until `read` returns something, and returns it. `describe` says what there is instead. */
export async function waitUntil<T>(
  name: string,
  read: () => Promise<T | undefined> | T | undefined,
  describe: () => string = () => '',
): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`it never came to: ${name}\n${describe()}`);
    await sleep(POLL_MS);
  }
}
