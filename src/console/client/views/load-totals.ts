import { ok, type Api, type Schemas } from '../api';

export interface Totals {
  /** Outgoing calls without an answer would lower the connect rate, so they are apart. */
  inbound: Schemas['CallReportFigures'];
  /** Dollars of incoming and outgoing calls; null for those who do not see it. */
  revenue: number | null;
}

/** Loads what has come of the calls since an instant. */
export async function loadTotals(api: Api, createdFrom: string): Promise<Totals> {
  const load = async (more: { call_category?: 'inbound' }) => {
    const query = { category: 'offer' as const, created_at_from: createdFrom, ...more };
    return (await ok(api.GET('/calls/reports', { params: { query } }))).totals;
  };
  const [inbound, { revenue }] = await Promise.all([load({ call_category: 'inbound' }), load({})]);
  return { inbound, revenue };
}
