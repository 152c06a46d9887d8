import type { Schemas } from '../contract';
import { replaceAttached } from '../db/attachments';
import { resolveReferences } from '../db/records';
import type { Db } from '../db/tenant';
import { openMinutes } from '../time/opening-hours';
import { splitPairs } from '../tokens/filters';
import { requireValueLists, requireZipList } from '../value-lists/require-lists';
import { areBidSettings, bidColumns } from './bid-settings';
import { isLimit } from './cap-limits';
import { METRICS } from './caps';
import {
  changeCurrent,
  isCurrentField,
  replaceConversions,
  type CurrentFields,
} from './conversions';

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

export function columnsOf(fields: BuyerFields) {
  const own = Object.fromEntries(
    OWN_COLUMNS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
  const { record_token_filter_list: filters, record_token_additional_list: additional } = fields;
  return {
    ...own,
    ...bidColumns(fields),
    ...places('states', fields.states),
    ...places('area_codes', fields.area_codes),
    ...(filters !== undefined && { record_token_filter_data: filters ?? [] }),
    ...(additional !== undefined && {
      record_token_additional_data: splitPairs(additional ?? ''),
    }),
  };
}

const places = (column: string, sent: readonly string[] | null | undefined) =>
  sent === undefined ? {} : { [column]: [...new Set(sent)] };

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
export async function referencesOf(
  db: Db,
  fields: BuyerFields,
): Promise<{ [Field in keyof typeof REFERENCES]?: bigint | null }> {
  const found: Record<string, bigint | null> = {};
  for (const [field, table] of Object.entries(REFERENCES)) {
    const reference = fields[field as keyof typeof REFERENCES];
    if (reference === null) found[field] = null;
    else if (reference !== undefined)
      found[field] = (await resolveReferences(db, table, [reference], { field }))[0]!;
  }
  if (found.zip_list_id) await requireZipList(db, found.zip_list_id, 'zip_list_id');
  return found;
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
  buyer_id: bigint,
  { fields, lists, now }: Parts,
): Promise<void> {
  if (lists) {
    const attached = { buyer_suppression_id: lists };
    await replaceAttached(db, 'buyer_suppression_buyers', { buyer_id }, attached);
  }
  await requireValueLists(db, fields.record_token_filter_list, 'record_token_filter_list');
  const { business_hours_schedule: hours, buyer_conversions_schedule: frames } = fields;
  if (hours !== undefined) await replaceHours(db, buyer_id, hours ?? []);
  if (frames !== undefined) await replaceConversions(db, buyer_id, frames ?? []);
  const current = Object.fromEntries(
    Object.entries(fields).filter(([name]) => isCurrentField(name)),
  ) as CurrentFields;
  if (Object.keys(current).length > 0) await changeCurrent(db, buyer_id, { fields: current, now });
}

async function replaceHours(
  db: Db,
  buyer_id: bigint,
  entries: readonly Schemas['BusinessHours'][],
): Promise<void> {
  await db.prisma.buyerBusinessHours.deleteMany({ where: { buyer_id } });
  const filled = entries.filter(hasHours);
  if (filled.length === 0) return;
  await db.prisma.buyerBusinessHours.createMany({
    data: filled.map((entry, position) => ({
      company_id: db.company_id,
      buyer_id,
      position,
      schedule: [...entry.schedule],
      open_minutes: openMinutes(entry.schedule),
      ...hourlyLimitsOf(entry),
    })),
  });
}

/**
 * A caller with limited access does not see limits on earned revenue: entries that it sends without
 * that limit get the lowest stored one.
 */
export async function withHiddenLimits(
  db: Db,
  buyer_id: bigint,
  hours: readonly Schemas['BusinessHours'][],
): Promise<Schemas['BusinessHours'][]> {
  if (!db.accessScope || hours.length === 0) return [...hours];
  const stored = await db.prisma.buyerBusinessHours.findMany({
    where: { buyer_id },
    select: { earned_revenue_hourly_limit: true },
  });
  const limits = stored.flatMap(
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

function hourlyLimitsOf(entry: Schemas['BusinessHours']) {
  const names = METRICS.map((metric) => `${metric}_hourly_limit` as const);
  return Object.fromEntries(names.map((name) => [name, entry[name] ?? null]));
}
