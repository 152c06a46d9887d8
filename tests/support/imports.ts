import type { Api, World } from './world';
import { FAR_MS } from './patience';

type Values = Record<string, never> & Record<string, unknown>;

/** Waits until the import of a suppression list or file has ended, and returns the record. */
export async function finished(api: Api, path: string): Promise<Values> {
  const until = Date.now() + FAR_MS;
  for (;;) {
    const { body } = await api('get', path);
    const record = body[body.metadata.root];
    if (record.status !== 'pending' && record.status !== 'running') return record;
    if (Date.now() > until) throw new Error(`still ${record.status}: ${JSON.stringify(record)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** All numbers of a list, page by page. */
export async function loadNumbers(api: Api, list: number): Promise<string[]> {
  const numbers: string[] = [];
  let cursor: number | string = -1;
  do {
    const { body } = await api('get', `buyer_suppressions/${list}/caller_ids`, {
      query: { per_page: 1000, cursor },
    });
    numbers.push(...body.caller_ids);
    cursor = body.metadata.next_cursor;
  } while (cursor !== 0);
  return numbers;
}

/** The nth of many telephone numbers. */
export const numberAt = (n: number): string =>
  String(2_002_000_000 + (n % 8_000) + Math.floor(n / 8_000) * 10_000_000);

/** Requests about suppression, for a world's company; the world is used once a test begins. */
export function buildSuppressionRequests(world: () => World) {
  const api = (...args: Parameters<Api>) => world().company.api(...args);
  return {
    api,
    create: async (body: object = {}) =>
      (await api('post', 'buyer_suppressions', { body: { name: 'List', ...body } })).body
        .buyer_suppression,
    upload: (
      path: string,
      content: string | Buffer,
      fields: Record<string, string | string[]> = {},
    ) => api('post', path, { form: { ...fields, import_file: Buffer.from(content) } }),
    /** Three buyers with the user_buyer_id a, b and c; returns their ids. */
    createBuyers: async () => {
      const ids: number[] = [];
      for (const name of ['a', 'b', 'c'])
        ids.push(
          (await api('post', 'buyers', { body: { name, user_buyer_id: name } })).body.buyer.id,
        );
      return ids;
    },
  };
}
