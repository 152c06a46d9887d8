import type { ConsoleContract, FieldContract, Fields, NounContract } from '../noun-contract';

// A limited caller sees a part of the margin, and none of the company's notes. What the API hides
// from the caller is not in the contract that the pages read: no table, filter or form has it.

/** Part of the margin that a column shows, by the name that `/me` has for it. */
const PARTS = { sale: ['revenue'], purchase: ['payout'], both: ['revenue', 'payout'] } as const;

/** The caller, as `/me` describes one. */
interface Viewer {
  /** Null for callers who see the whole company. */
  team_ids: readonly number[] | null;
  visible_money: readonly ('revenue' | 'payout')[];
}

export type MoneyPart = keyof typeof PARTS;

/** True for who sees this part of the margin of at least one record. */
export const seesPart = (part: MoneyPart, { visible_money: visible }: Viewer): boolean =>
  PARTS[part].every((name) => visible.includes(name));

const isHidden = (viewer: Viewer, field: FieldContract | undefined): boolean =>
  field?.money !== undefined && (field.money === 'company' || !seesPart(field.money, viewer));

export function hideMoney(contract: ConsoleContract, viewer: Viewer): ConsoleContract {
  if (viewer.team_ids === null) return contract;
  const nouns = Object.entries(contract.nouns).map(([name, noun]): [string, NounContract] => {
    const keep = (fields: Fields) =>
      Object.fromEntries(
        Object.entries(fields).filter(
          ([key, field]) => !isHidden(viewer, field) && !isHidden(viewer, noun.read[key]),
        ),
      );
    const orders = noun.orders.filter((order) => !isHidden(viewer, noun.read[order]));
    const [read, write, filters] = [noun.read, noun.write, noun.filters].map(keep);
    return [name, { ...noun, read: read!, write: write!, filters: filters!, orders }];
  });
  return { nouns: Object.fromEntries(nouns) };
}

/** True for partners: users of a team who see what they pay or are paid, and not the margin. */
export const seesOnly = (part: Viewer['visible_money'][number], viewer: Viewer): boolean =>
  viewer.team_ids !== null && viewer.visible_money.join() === part;

/** Titles for partners, by the only part of the margin that they see. */
export const PARTNER_TITLES = { revenue: 'You pay', payout: 'You are paid' } as const;

/** The title of a part of the margin for the caller; `usual` for all but partners. */
export const titleMoney = (
  part: keyof typeof PARTNER_TITLES,
  viewer: Viewer,
  usual: string,
): string => (seesOnly(part, viewer) ? PARTNER_TITLES[part] : usual);
