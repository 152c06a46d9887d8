import type { Client } from 'pg';

export async function withClient<C extends Client, T>(
  client: C,
  work: (client: C) => Promise<T>,
): Promise<T> {
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
