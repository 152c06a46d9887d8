import type { Db } from './tenant';

/** A connection, or what asks like one. */
export interface Executor {
  query(statement: {
    name?: string;
    text: string;
    values?: unknown[];
  }): Promise<{ rows: unknown[] }>;
}

/** A company's part of the database, asked like a connection. */
export const executorOf = (db: Pick<Db, 'query'>): Executor => ({
  query: async ({ text, values = [] }) => ({ rows: await db.query({ text, values }) }),
});
