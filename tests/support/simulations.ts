import type { Fields } from './records';
import { softswitch } from './softswitch';

/** Monday 08:00 in New York. */
export const MONDAY = '2026-06-01T12:00:00Z';
export const DAY = { from: '2026-06-01T00:00:00Z', to: '2026-06-02T00:00:00Z' };
const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 60 };

export type { Fields };

/** A buyer in the reply to a simulation. */
export interface Row {
  buyer_id: number;
  changed: boolean;
  answer_rate: number;
  real: Fields;
  as_configured: Fields & { skip_reasons: Record<string, number> };
  as_changed: Fields & { skip_reasons: Record<string, number> };
  difference: Record<string, number>;
}

export const indexRows = ({ buyers }: { buyers: Row[] }) =>
  new Map(buyers.map((row) => [row.buyer_id, row]));

/** A company of its own for each test of the file, which makes calls and simulates them. */
export function simulations() {
  const here = softswitch(MONDAY);
  const { ok, world } = here;
  const buyer = (fields: Fields = {}) => here.buyer({ ...PAYS, ...fields });
  const simulate = async (body: Fields) => (await ok('post', 'routing/simulate', body)).simulation;
  const collectErrors = (body: Fields) => here.errors('routing/simulate', body);
  const sql = (text: string, values: unknown[]) => world.sql(text, values);
  return { ...here, buyer, simulate, collectErrors, sql, company_id: () => world.company.id };
}
