import type { Schemas } from '../../platform/contract/contract';
import { toKey } from '../../data/references';
import type { Db } from '../../data/db';
import { HttpProblem, type FieldFaults, invalid } from '../../platform/errors';
import { requireValueLists } from '../value-lists/require-lists';
import { openMinutes } from '../../platform/time/opening-hours';
import { FIND_CURRENT_CONVERSION, NEXT_TOKEN_VALUE_IDS } from './queries/conversions';

type TimeFrame = Schemas['ConversionTimeFrame'];

export type CurrentConversionFields = Pick<
  Schemas['BuyerFields'],
  Extract<keyof Schemas['BuyerFields'], `current_conversion_${string}`>
>;

export interface ConversionRow {
  name: string | null;
  conversion_type: Schemas['ConversionType'];
  duration: number;
  revenue: number;
  revenue_min: number | null;
  revenue_max: number | null;
  revenue_increment: number | null;
  duplicate_timeframe: number;
  token_values: string[];
  attribution_token_values: string[];
}

const NEW_CONVERSION: ConversionRow = {
  name: null,
  conversion_type: 'duration',
  duration: 0,
  revenue: 0,
  revenue_min: null,
  revenue_max: null,
  revenue_increment: null,
  duplicate_timeframe: 0,
  token_values: [],
  attribution_token_values: [],
};

export function isCurrentField(name: string): name is keyof CurrentConversionFields {
  return name.startsWith('current_conversion_');
}

export async function replaceConversions(
  db: Db,
  buyerId: bigint,
  frames: readonly TimeFrame[],
): Promise<void> {
  frames.forEach((frame, f) =>
    frame.buyer_conversions_attributes.forEach((attributes, c) => {
      const toField = (name: string) =>
        `buyer_conversions_schedule.${f}.buyer_conversions_attributes.${c}.${name}`;
      if (attributes.conversion_type !== 'postback') requireDuration(attributes, toField);
      requireBounds({ ...NEW_CONVERSION, ...attributes }, toField);
    }),
  );
  for (const [f, frame] of frames.entries())
    for (const [c, { token_values }] of frame.buyer_conversions_attributes.entries())
      await requireValueLists(
        db,
        token_values,
        `buyer_conversions_schedule.${f}.buyer_conversions_attributes.${c}.token_values`,
      );
  await db.prisma.buyerConversion.deleteMany({ where: { buyer_id: buyerId } });
  await insertConversions(
    db,
    frames.flatMap(({ schedule, buyer_conversions_attributes }, timeFrame) =>
      buyer_conversions_attributes.filter(hasValue).map((attributes, position) => ({
        buyer_id: buyerId,
        time_frame: timeFrame,
        position,
        schedule,
        row: { ...NEW_CONVERSION, ...attributes },
      })),
    ),
  );
}

/**
 * Changes the conversion that is current now, or creates one that is always open. The buyer must be
 * locked: revenue_increment limits the change from the stored revenue.
 */
export async function updateCurrentConversion(
  db: Db,
  buyerId: bigint,
  { fields, now }: { fields: CurrentConversionFields; now: Date },
): Promise<void> {
  const current = await findCurrentConversion(db, buyerId, now);
  const changes = toColumns(fields);
  if (!current && !hasValue(changes)) return;
  const toField = (name: string) => `current_conversion_${name}`;
  if (!current) requireDuration(changes, toField);
  const row = { ...(current ?? NEW_CONVERSION), ...changes };
  requireBounds(row, toField);
  await requireValueLists(db, fields.current_conversion_token_values, toField('token_values'));
  if (current && changes.revenue !== undefined) requireStep(current.revenue, row);
  if (!current) {
    const last = await db.prisma.buyerConversion.aggregate({
      where: { buyer_id: buyerId },
      _max: { time_frame: true },
    });
    const timeFrame = (last._max.time_frame ?? -1) + 1;
    return insertConversions(db, [
      { buyer_id: buyerId, time_frame: timeFrame, position: 0, schedule: [], row },
    ]);
  }
  const { id, ...values } = row as ConversionRow & { id: bigint };
  await db.prisma.buyerConversion.update({
    where: toKey(db, id),
    data: { ...values, ...(await allocateTokenIds(db, current, row)) },
  });
}

async function findCurrentConversion(
  db: Db,
  buyerId: bigint,
  now: Date,
): Promise<(ConversionRow & { id: bigint }) | undefined> {
  const [current] = await db.sql(FIND_CURRENT_CONVERSION, { buyer_id: buyerId, now });
  if (!current) return undefined;
  const id = BigInt(current.id);
  const conversion = await db.prisma.buyerConversion.findUniqueOrThrow({
    where: toKey(db, id),
  });
  const dollars = (amount: { toNumber(): number } | null) => amount && amount.toNumber();
  return {
    id,
    name: conversion.name,
    conversion_type: conversion.conversion_type as Schemas['ConversionType'],
    duration: conversion.duration,
    revenue: conversion.revenue.toNumber(),
    revenue_min: dollars(conversion.revenue_min),
    revenue_max: dollars(conversion.revenue_max),
    revenue_increment: dollars(conversion.revenue_increment),
    duplicate_timeframe: conversion.duplicate_timeframe,
    token_values: conversion.token_values,
    attribution_token_values: conversion.attribution_token_values,
  };
}

const LISTS = new Set(['token_values', 'attribution_token_values']);
/** Columns that are never null: a blank field leaves them as they are. */
const NEVER_BLANK = new Set(['revenue', 'duration', 'duplicate_timeframe']);

/** Renames `current_conversion_x` to `x`; a blank list becomes an empty one. */
function toColumns(fields: CurrentConversionFields): Partial<ConversionRow> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const column = name.replace('current_conversion_', '');
      if (value === null && NEVER_BLANK.has(column)) return [];
      return [[column, value === null && LISTS.has(column) ? [] : value]];
    }),
  );
}

const isBlank = (value: unknown) =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** Forms send every field: false when all of them are blank. */
const hasValue = (conversion: Partial<ConversionRow>): boolean =>
  !Object.values(conversion).every(isBlank);

/**
 * Throws 422 for a new conversion without a duration: each call that dials the buyer would convert,
 * even one that is busy.
 */
function requireDuration(
  conversion: Partial<ConversionRow>,
  toField: (name: string) => string,
): void {
  if (conversion.duration !== undefined || !hasValue(conversion)) return;
  const filledFields = Object.entries(conversion).filter(([, value]) => !isBlank(value));
  const [name] = filledFields.find(([column]) => column === 'revenue') ?? filledFields[0]!;
  throw HttpProblem.field(
    toField(name),
    'missing_field',
    `needs ${toField('duration')}: after how many seconds a call pays; 0 when the buyer is dialed`,
  );
}

function requireBounds(
  { revenue, revenue_min, revenue_max }: ConversionRow,
  field: (name: string) => string,
): void {
  const faults: FieldFaults = {};
  if (revenue_min !== null && revenue_max !== null && revenue_min > revenue_max)
    faults[field('revenue_min')] = invalid(`must not be above the maximum of ${revenue_max}`);
  else if (revenue_min !== null && revenue < revenue_min)
    faults[field('revenue')] = invalid(`must not be below the minimum of ${revenue_min}`);
  else if (revenue_max !== null && revenue > revenue_max)
    faults[field('revenue')] = invalid(`must not be above the maximum of ${revenue_max}`);
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

function requireStep(before: number, { revenue, revenue_increment }: ConversionRow): void {
  if (revenue_increment === null) return;
  const cents = (dollars: number) => Math.round(dollars * 100);
  if (cents(Math.abs(revenue - before)) % cents(revenue_increment) === 0) return;
  throw HttpProblem.field(
    'current_conversion_revenue',
    'invalid_value',
    `must change from ${before} by a multiple of ${revenue_increment}`,
  );
}

interface NewRow {
  buyer_id: bigint;
  time_frame: number;
  position: number;
  schedule: TimeFrame['schedule'];
  row: ConversionRow;
}

async function insertConversions(db: Db, rows: NewRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { company_id } = db;
  const counts = rows.map(
    ({ row }) => row.token_values.length + row.attribution_token_values.length,
  );
  const ids = await allocateIds(
    db,
    counts.reduce((sum, count) => sum + count, 0),
  );
  await db.prisma.buyerConversion.createMany({
    data: rows.map(({ buyer_id, time_frame, position, schedule, row }) => ({
      company_id,
      buyer_id,
      time_frame,
      position,
      schedule: [...schedule],
      open_minutes: openMinutes(schedule),
      ...row,
      token_value_ids: ids.splice(0, row.token_values.length),
      attribution_token_value_ids: ids.splice(0, row.attribution_token_values.length),
    })),
  });
}

async function allocateTokenIds(
  db: Db,
  before: ConversionRow,
  after: ConversionRow,
): Promise<{ token_value_ids?: bigint[]; attribution_token_value_ids?: bigint[] }> {
  const same = (a: string[], b: string[]) => a.join('\n') === b.join('\n');
  return {
    ...(!same(before.token_values, after.token_values) && {
      token_value_ids: await allocateIds(db, after.token_values.length),
    }),
    ...(!same(before.attribution_token_values, after.attribution_token_values) && {
      attribution_token_value_ids: await allocateIds(db, after.attribution_token_values.length),
    }),
  };
}

async function allocateIds(db: Db, count: number): Promise<bigint[]> {
  if (count === 0) return [];
  const rows = await db.sql(NEXT_TOKEN_VALUE_IDS, { count });
  return rows.map(({ id }) => BigInt(id));
}
