import type { Schemas } from '../../platform/contract/contract';
import { replaceAttached } from '../../data/attachments';
import type { Db } from '../../data/db';
import { openMinutes } from '../../platform/time/opening-hours';
import { splitPairs } from '../../platform/tokens/filters';
import { requireValueLists } from '../value-lists/require-lists';
import { bidColumns } from './bid-settings';
import { METRICS } from '../caps/caps';
import {
  updateCurrentConversion,
  isCurrentField,
  replaceConversions,
  type CurrentConversionFields,
} from '../money/conversions';

export type BuyerFields = Schemas['BuyerFields'];

export const EMPTY_LISTS = {
  record_token_filter_data: [],
  record_token_additional_data: [],
  states: [],
  area_codes: [],
};

/** Columns other than fields of the same name. */
export function toColumns(fields: BuyerFields) {
  const { record_token_filter_list: filters, record_token_additional_list: additional } = fields;
  return {
    ...bidColumns(fields),
    ...toUniqueColumn('states', fields.states),
    ...toUniqueColumn('area_codes', fields.area_codes),
    ...(filters !== undefined && { record_token_filter_data: filters ?? [] }),
    ...(additional !== undefined && {
      record_token_additional_data: splitPairs(additional ?? ''),
    }),
  };
}

const toUniqueColumn = (column: string, values: readonly string[] | null | undefined) =>
  values === undefined ? {} : { [column]: [...new Set(values)] };

interface Parts {
  fields: BuyerFields;
  /** Ids of suppression lists; undefined leaves the attached ones. */
  lists: bigint[] | undefined;
  now: Date;
}

/** Writes the parts of a buyer in other tables: suppression lists, business hours, conversions. */
export async function writeParts(
  db: Db,
  buyerId: bigint,
  { fields, lists, now }: Parts,
): Promise<void> {
  if (lists) {
    const attached = { buyer_suppression_id: lists };
    await replaceAttached(db, 'buyer_suppression_buyers', { buyer_id: buyerId }, attached);
  }
  await requireValueLists(db, fields.record_token_filter_list, 'record_token_filter_list');
  const { business_hours_schedule: hours, buyer_conversions_schedule: frames } = fields;
  if (hours !== undefined) await replaceHours(db, buyerId, hours ?? []);
  if (frames !== undefined) await replaceConversions(db, buyerId, frames ?? []);
  const current = Object.fromEntries(
    Object.entries(fields).filter(([name]) => isCurrentField(name)),
  ) as CurrentConversionFields;
  if (Object.keys(current).length > 0)
    await updateCurrentConversion(db, buyerId, { fields: current, now });
}

async function replaceHours(
  db: Db,
  buyerId: bigint,
  entries: readonly Schemas['BusinessHours'][],
): Promise<void> {
  await db.prisma.buyerBusinessHours.deleteMany({ where: { buyer_id: buyerId } });
  const filled = entries.filter(hasHours);
  if (filled.length === 0) return;
  await db.prisma.buyerBusinessHours.createMany({
    data: filled.map((entry, position) => ({
      company_id: db.company_id,
      buyer_id: buyerId,
      position,
      schedule: [...entry.schedule],
      open_minutes: openMinutes(entry.schedule),
      ...toHourlyLimits(entry),
    })),
  });
}

/**
 * A caller with limited access does not see limits on earned revenue: entries that it sends without
 * that limit get the lowest stored one.
 */
export async function applyHiddenLimits(
  db: Db,
  buyerId: bigint,
  hours: readonly Schemas['BusinessHours'][],
): Promise<Schemas['BusinessHours'][]> {
  if (!db.accessScope || hours.length === 0) return [...hours];
  const storedHours = await db.prisma.buyerBusinessHours.findMany({
    where: { buyer_id: buyerId },
    select: { earned_revenue_hourly_limit: true },
  });
  const limits = storedHours.flatMap(
    ({ earned_revenue_hourly_limit: limit }) => limit?.toNumber() ?? [],
  );
  if (limits.length === 0) return [...hours];
  const least = Math.min(...limits);
  return hours.map((entry) => ({
    ...entry,
    earned_revenue_hourly_limit: entry.earned_revenue_hourly_limit ?? least,
  }));
}

/** A blank entry would open the buyer at all hours. */
const hasHours = (entry: Schemas['BusinessHours']): boolean =>
  entry.schedule.length > 0 || METRICS.some((metric) => isSet(entry[`${metric}_hourly_limit`]));

const isSet = (limit: number | null | undefined) => limit !== undefined && limit !== null;

function toHourlyLimits(entry: Schemas['BusinessHours']) {
  const names = METRICS.map((metric) => `${metric}_hourly_limit` as const);
  return Object.fromEntries(names.map((name) => [name, entry[name] ?? null]));
}
