/**
 * Sets how long a call waits for a lock. In tests it is a minute: on a busy machine, calls that
 * race for few rows may wait for longer than a caller would.
 */
export async function setLockWait(
  query: (text: string) => Promise<unknown>,
  wait: string,
): Promise<void> {
  for (const name of ['try_begin_call', 'start_round'])
    await query(`ALTER FUNCTION ${name} SET lock_timeout = '${wait}'`);
}
