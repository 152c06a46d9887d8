import {
  BUYERS,
  granted,
  PURCHASE,
  SALE,
  SOURCES,
  WHOLE_OFFER_IDS,
  WHOLE_OFFERS,
} from './access-conditions';
import type { Table } from './references';

// Which part of a margin limited callers see of a record that is visible: what buyers pay, what
// traffic sources are paid, or both. The contract says of each column what it tells (x-side).

/** Conditions for the sides of a row of a table to be visible, where the row is. */
interface Sides {
  /** What buyers pay. */
  sale: string;
  /** What traffic sources are paid. */
  purchase: string;
}

const OF_CALL: Sides = { sale: SALE, purchase: PURCHASE };
/** What a buyer earns comes from all offers and sources together. */
const OF_BUYER: Sides = { sale: 'true', purchase: 'false' };
const OF_NUMBER = `(t.traffic_source_id = ${SOURCES} OR t.offer_id = ${WHOLE_OFFERS})`;

/** A caller who sees neither a buyer nor the whole of an offer sees no sale at all, and so on. */
export const SIDES: Partial<Record<Table, Sides>> = {
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

/** Which sides a caller sees of any record, in one row. */
export const VISIBLE_SIDES = `
  SELECT
    EXISTS (${granted('buyer')} UNION ${granted('buyer_group')} UNION ${WHOLE_OFFER_IDS}) AS sale,
    EXISTS (${granted('traffic_source')} UNION ${WHOLE_OFFER_IDS}) AS purchase`;
