import type { Company } from './world';

export type ReportRow = Record<string, unknown>;

/** A report as JSON, which must be there. */
export async function report(of: 'calls' | 'leads', query: object, { api }: Company) {
  const res = await api('get', `${of}/reports`, { query });
  expect([query, res.status]).toEqual([query, 200]);
  return res.body as { rows: ReportRow[]; totals: ReportRow; metadata: ReportRow };
}

/** The values of rows in these columns. */
export const pick = (rows: ReportRow[], ...names: string[]) =>
  rows.map((row) => names.map((name) => row[name]));

/** Makes a record of a company and answers its id. */
export const bindCreate =
  ({ api }: Company) =>
  async (path: string, root: string, body: object): Promise<number> =>
    (await api('post', path, { body })).body[root].id;
