import type { Schemas } from '../../platform/contract/contract';
import { replaceAttached } from '../../data/attachments';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { openMinutes } from '../../platform/time/opening-hours';
import { splitPairs } from '../../platform/tokens/filters';
import { requireValueLists, requireZipList } from '../value-lists/require-lists';
import { areBidSettings, bidColumns } from './bid-settings';
import { isLimit } from '../caps/cap-limits';
import { METRICS } from '../caps/caps';
import {
  updateCurrentConversion,
  isCurrentField,
  replaceConversions,
  type CurrentConversionFields,
} from '../money/conversions';

export type BuyerFields = Schemas['BuyerFields'];

/** Fields of the contract that are columns of the same name. */
const OWN_COLUMNS = [
  'name',
  'number',
  'user_buyer_id',
  'email',
  'external_record_id',
  'buyer_type',
  'timeout_seconds',
  'dtmf_tones',
  'time_zone',
  'paused',
  'record_calls',
  'press_one_to_accept',
  'route_by_type',
  'tier',
  'weight',
  'epc_timeframe',
  'epc_assumed_amount',
  'epc_assumed_calls_count',
  'display_caller_id_type',
] as const satisfies readonly (keyof BuyerFields)[];

export const EMPTY_LISTS = {
  record_token_filter_data: [],
  record_token_additional_data: [],
  states: [],
  area_codes: [],
};

export function toColumns(fields: BuyerFields) {
  const ownColumns = Object.fromEntries(
    OWN_COLUMNS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
  const { record_token_filter_list: filters, record_token_additional_list: additional } = fields;
  return {
    ...ownColumns,
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

const OWN_FIELDS = new Set<string>([
  ...OWN_COLUMNS,
  'states',
  'area_codes',
  'ping_timeout_seconds',
  'record_token_additional_list',
]);

/** True when each field is a column of the buyer's row or a limit of its caps. */
export const areOwnFields = (fields: object): boolean =>
  !areBidSettings(fields) &&
  Object.keys(fields).every((name) => OWN_FIELDS.has(name) || isLimit(name));

const REFERENCES = {
  buyer_fleet_id: 'buyer_fleets',
  display_service_number_id: 'numbers',
  zip_list_id: 'value_lists',
} as const;

/** Locks the fleet, the number and the ZIP list that a buyer refers to, and returns their ids. */
export async function lockReferences(
  db: Db,
  fields: BuyerFields,
): Promise<{ [Field in keyof typeof REFERENCES]?: bigint | null }> {
  const ids: Record<string, bigint | null> = {};
  for (const [field, table] of Object.entries(REFERENCES)) {
    const reference = fields[field as keyof typeof REFERENCES];
    if (reference === null) ids[field] = null;
    else if (reference !== undefined)
      ids[field] = (await resolveReferences(db, table, [reference], { field }))[0]!;
  }
  if (ids.zip_list_id) await requireZipList(db, ids.zip_list_id, 'zip_list_id');
  return ids;
}

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
