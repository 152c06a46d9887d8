import type { Params, TenantSql } from '../db/sql';
import {
  ADD_PAYOUT,
  ADD_REVENUE,
  ADD_TOKENS,
  RECORD_CALL_STATUS,
  RECORD_CONVERSION,
  RECORD_PLACED_CALL,
} from './queries/calls';

// How calls write their lead. The lead must be locked. Amounts are dollars, ids decimal text.

type Given<Name extends keyof Names> = Omit<Params<Names[Name]>, 'company_id'>;
interface Names {
  placed: 'leads.record_placed_call';
  status: 'leads.record_call_status';
  tokens: 'leads.add_tokens';
  revenue: 'leads.add_revenue';
  payout: 'leads.add_payout';
  conversion: 'leads.record_conversion';
}

/** Records a call that was placed to the lead, and counts it as an attempt. */
export async function recordPlacedCall(sql: TenantSql, call: Given<'placed'>): Promise<void> {
  await sql(RECORD_PLACED_CALL, call);
}

/** Writes the status that the lead has after a report of its call (see statusAfterCall). */
export async function recordCallStatus(sql: TenantSql, call: Given<'status'>): Promise<void> {
  await sql(RECORD_CALL_STATUS, call);
}

/** Adds tokens, a JSON object, unless the lead would exceed 128 kB. */
export async function addTokens(sql: TenantSql, added: Given<'tokens'>): Promise<void> {
  await sql(ADD_TOKENS, added);
}

/** Adds what buyers pay for the lead; a negative amount takes it off. */
export async function addRevenue(sql: TenantSql, added: Given<'revenue'>): Promise<void> {
  await sql(ADD_REVENUE, added);
}

/** Adds what the traffic source is paid for the lead; a negative amount takes it off. */
export async function addPayout(sql: TenantSql, added: Given<'payout'>): Promise<void> {
  await sql(ADD_PAYOUT, added);
}

/** Records that a buyer converted the lead. */
export async function recordConversion(
  sql: TenantSql,
  conversion: Given<'conversion'>,
): Promise<void> {
  await sql(RECORD_CONVERSION, conversion);
}
