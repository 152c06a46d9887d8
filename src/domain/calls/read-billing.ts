import type { Schemas } from '../../platform/contract/contract';
import { canSeeMoney } from '../../data/access/money';
import { selectVisibleBuyers } from '../../data/access/scope';
import type { Db } from '../../data/db';
import { RETURNED } from '../money/engine/explain-unbilled';
import { countPassedOver, type Decision } from '../routing/engine/explain';
import { READ_BILLING } from './queries/billing';

type Billing = Schemas['CallBilling'];
type UnmetConversion = Schemas['UnmetConversion'];

const BILLED: Billing = { billed: true, reason: null, message: null, conversions: [] };

/**
 * Returns whether a buyer pays for a call, or why none does. Null during the call, and for limited
 * callers who may not see its revenue. What a buyer's conversions ask for is shown to those who see
 * the buyer. `decisions` are those about the call, as far as the caller sees them.
 */
export async function readBilling(
  db: Db,
  callId: number,
  decisions: readonly Decision[],
): Promise<Billing | null> {
  const money = { table: 'calls', key: 'id', references: [callId] } as const;
  if (db.accessScope && !(await canSeeMoney(db, money, 'sale'))) return null;
  const [call] = await db.sql(READ_BILLING, { call_id: callId });
  const { buyer_id, buyer_converted, unbilled_reason: reason, message, details } = call!;
  if (buyer_converted) return BILLED;
  if (reason === null) return null;
  const unbilled = { billed: false, reason };
  if (reason === 'not_connected')
    return { ...unbilled, message: explainMissed(decisions), conversions: [] };
  if (reason === 'returned') return { ...unbilled, message: RETURNED.message, conversions: [] };
  const isVisible =
    buyer_id !== null && (!db.accessScope || (await selectVisibleBuyers(db, [buyer_id])).size > 0);
  return isVisible
    ? { ...unbilled, message, conversions: (details?.conversions ?? []).map(inOrder) }
    : { ...unbilled, message: null, conversions: [] };
}

/** PostgreSQL stores members of an object in an order of its own. */
const inOrder = (conversion: UnmetConversion): UnmetConversion => {
  const { buyer_conversion_id, name, reason, message } = conversion;
  const { duration, answered_seconds, filter } = conversion;
  return { buyer_conversion_id, name, reason, message, duration, answered_seconds, filter };
};

/** Names what the last decision found, where it found no buyer. */
function explainMissed(decisions: readonly Decision[]): string {
  const last = decisions.at(-1);
  if (!last || last.action === 'dial') return NOBODY;
  const counts = countPassedOver(last.candidates).map(({ reason, count }) => `${count} ${reason}`);
  return `${NOBODY}: ${counts.join(', ') || last.message}`;
}

const NOBODY = 'no buyer took the call';
