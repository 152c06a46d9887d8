import {
  BUYERS,
  buildGranted,
  PURCHASE,
  SALE,
  SOURCES,
  WHOLE_OFFER_IDS,
  WHOLE_OFFERS,
} from './access-conditions';
import type { Table } from '../references';

// The money that limited callers see of a visible record: the revenue that buyers pay, the payout
// that traffic sources receive, or both. The contract marks each column that shows money (x-money).

interface MoneyConditions {
  /** Revenue, which buyers pay. */
  sale: string;
  /** Payout, which traffic sources receive. */
  purchase: string;
}

const OF_CALL: MoneyConditions = { sale: SALE, purchase: PURCHASE };
/** The revenue of a buyer comes from all offers and sources together. */
const OF_BUYER: MoneyConditions = { sale: 'true', purchase: 'false' };
const OF_NUMBER = `(t.traffic_source_id = ${SOURCES} OR t.offer_id = ${WHOLE_OFFERS})`;

/** A caller who sees no buyer and no whole offer sees no revenue at all; likewise for payouts. */
export const MONEY_CONDITIONS: Partial<Record<Table, MoneyConditions>> = {
  calls: OF_CALL,
  leads: OF_CALL,
  buyers: OF_BUYER,
  buyer_groups: OF_BUYER,
  offers: { sale: 'true', purchase: `t.id = ${WHOLE_OFFERS}` },
  numbers: {
    sale: `(t.buyer_id = ${BUYERS} OR t.offer_id = ${WHOLE_OFFERS})`,
    purchase: OF_NUMBER,
  },
  traffic_sources: { sale: 'false', purchase: `t.id = ${SOURCES}` },
  inbound_webhooks: { sale: 'true', purchase: OF_NUMBER },
};

export const VISIBLE_MONEY = `
  SELECT
    EXISTS (
      ${buildGranted('buyer')} UNION ${buildGranted('buyer_group')} UNION ${WHOLE_OFFER_IDS}
    ) AS sale,
    EXISTS (${buildGranted('traffic_source')} UNION ${WHOLE_OFFER_IDS}) AS purchase`;
