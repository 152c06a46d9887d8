import { ownTokens, type TokenSource } from './substitute';

/** What the service knows of a lead in addition to its data. */
export interface SystemFacts {
  /** + and digits. */
  caller_id: string;
  /** + and digits. */
  service_number: string | undefined;
  offer_name: string | undefined;
  buyer_name: string | undefined;
  call_uuid: string | undefined;
  /** Seconds. */
  total_duration: number | undefined;
  revenue: string;
  payout: string;
  previous_buyer_fleet_ids: readonly string[];
  /** Calls to and from the number, by days back. */
  calls_last: Readonly<Record<1 | 7 | 30 | 90, number>>;
}

/** Tokens that need a query for the calls of the number. */
export const CALL_TOKENS = [
  'call_uuid',
  'total_duration',
  'calls_last_1_days',
  'calls_last_7_days',
  'calls_last_30_days',
  'calls_last_90_days',
] as const;

/** The tokens of a lead: its own data first, then the facts of the service. */
export function leadTokens(data: Record<string, unknown>, facts: SystemFacts): TokenSource {
  const own = ownTokens(data);
  const filled = (...names: string[]) => names.map((name) => own(name)?.trim()).find(Boolean);
  const system: Record<string, () => string | undefined> = {
    caller_id: () => facts.caller_id,
    first_name: () => filled('full_name', 'name')?.split(/\s/)[0],
    geo_state: () => filled('state_province', 'state'),
    buyer_name: () => facts.buyer_name,
    offer_name: () => facts.offer_name,
    call_uuid: () => facts.call_uuid,
    total_duration: () => facts.total_duration?.toString(),
    revenue: () => facts.revenue,
    payout: () => facts.payout,
    service_number: () => facts.service_number,
    previous_buyer_fleet_ids: () => facts.previous_buyer_fleet_ids.join(','),
    ...Object.fromEntries(
      ([1, 7, 30, 90] as const).map((days) => [
        `calls_last_${days}_days`,
        () => String(facts.calls_last[days]),
      ]),
    ),
  };
  return (name) => own(name) ?? (Object.hasOwn(system, name) ? system[name]?.() : undefined);
}
