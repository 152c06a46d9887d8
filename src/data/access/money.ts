import type { MoneyVisibility } from '../../platform/contract/contract-document';
import {
  BUYERS,
  buildGranted,
  PURCHASE,
  SALE,
  SOURCES,
  WHOLE_OFFER_IDS,
  WHOLE_OFFERS,
} from './conditions';
import { findUnmatched, type Viewer } from './scope';
import type { VisibleMoney } from '../db';
import type { Reference, Table } from '../references';
import { template } from '../statement';

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

const VISIBLE_MONEY = `
  SELECT
    EXISTS (
      ${buildGranted('buyer')} UNION ${buildGranted('buyer_group')} UNION ${WHOLE_OFFER_IDS}
    ) AS sale,
    EXISTS (${buildGranted('traffic_source')} UNION ${WHOLE_OFFER_IDS}) AS purchase`;

/** Alias of the join with the money that a limited caller sees of the row t. */
export const MONEY_ALIAS = 'sides';

export function buildMoneyCondition(side: MoneyVisibility): string {
  if (side === 'company') return 'false';
  return side === 'both'
    ? `(${MONEY_ALIAS}.sale AND ${MONEY_ALIAS}.purchase)`
    : `${MONEY_ALIAS}.${side}`;
}

export function buildMoneyJoin(table: Table): string {
  const { sale, purchase } = MONEY_CONDITIONS[table] ?? { sale: 'false', purchase: 'false' };
  return `CROSS JOIN LATERAL (
    SELECT coalesce(${sale}, false) AS sale, coalesce(${purchase}, false) AS purchase
  ) ${MONEY_ALIAS}`;
}

export async function canSeeMoney(
  db: Viewer,
  { table, key, references }: { table: Table; key: string; references: readonly Reference[] },
  side: 'sale' | 'purchase',
): Promise<boolean> {
  const condition = MONEY_CONDITIONS[table]?.[side];
  return (await findUnmatched(db, { table, key, condition }, references)).length === 0;
}

/** True if no limited caller sees this money of any record of the table. */
export const isAlwaysHidden = (table: Table, side: MoneyVisibility): boolean =>
  side === 'company' ||
  (side !== 'purchase' && MONEY_CONDITIONS[table]?.sale === 'false') ||
  (side !== 'sale' && MONEY_CONDITIONS[table]?.purchase === 'false');

export async function loadVisibleMoney(db: Viewer): Promise<VisibleMoney> {
  if (!db.accessScope) return { sale: true, purchase: true };
  const [visibleMoney] = await db.query<VisibleMoney>(
    findSides({ ...db.accessScope, company_id: db.company_id }),
  );
  return visibleMoney!;
}

const findSides = template(VISIBLE_MONEY, { prepared: true });

/** True if a caller who sees this money of some records may see a column of this visibility. */
export const canSeeColumn = ({ sale, purchase }: VisibleMoney, side: MoneyVisibility): boolean =>
  side !== 'company' && (side === 'purchase' || sale) && (side === 'sale' || purchase);
