import type { Api } from './world';

// Calls of a switch without a telephone: it begins them, and reports what becomes of them.

/** Begins a call; `say` reports an event of the first buyer that is dialed. */
export async function beginCall(api: Api, body: object) {
  const res = await api('post', 'call_sessions', { body });
  expect(res.status).toBe(201);
  const { id, uuid, instruction } = res.body.call_session;
  const [first] = instruction.dial;
  return {
    id: id as number,
    dial: instruction.dial as { attempt: string; buyer_id: number }[],
    say: async (event: string, more: object = {}): Promise<void> => {
      const fields = { event, attempt: first.attempt, ...more };
      const reported = await api('post', `call_sessions/${uuid}/events`, { body: fields });
      expect(reported.status).toBe(200);
    },
  };
}

/** A call that its buyer takes and that lasts so long; gives its id. */
export async function playCall(api: Api, body: object, seconds: number): Promise<number> {
  const { id, say } = await beginCall(api, body);
  await say('answered');
  await say('completed', { duration: seconds });
  return id;
}
