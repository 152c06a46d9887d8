import type { Db } from '../db/tenant';
import type { Caller } from '../http/auth/caller';
import { withDefaults } from '../http/defaults';
import { mayUse } from '../http/field-permissions';
import { fieldsIn, type DirectWrite } from '../http/write-directly';
import { pauseColumns, pausing } from '../people/paused-by';
import { ianaName } from '../time/zone';
import { changedWith, changeLimits, openedWith, openLimits, type Limits } from './cap-limits';
import type { CapOwner } from './caps';

// Owners of caps (buyers and groups of buyers): the parts of a write that both share.

interface OwnerFields {
  paused?: boolean;
  time_zone?: string | null;
  reset_total_caps?: boolean;
}

export interface OwnerKind<Fields extends OwnerFields> {
  table: 'buyers' | 'buyer_groups';
  key: 'buyer_id' | 'buyer_group_id';
  defaults: Fields;
  /** True when each field is a column of the owner's row or a limit of its caps. */
  areOwnFields(fields: object): boolean;
  columnsOf(fields: Fields): Record<string, unknown>;
  limitsOf(fields: Fields): Limits;
}

interface Request<Fields> {
  db: Db;
  caller: Caller;
  body: Fields & { serializer?: unknown };
}

/** Raising a cap needs this permission: see x-lowerable in the contract. */
const raising = ({ table }: { table: string }) => `${table}:routing`;

/**
 * Builds the single-statement insert of an owner. Undefined when a field needs more than the
 * owner's columns and caps, or the caller must not raise limits.
 */
export async function newOwner<Fields extends OwnerFields>(
  kind: OwnerKind<Fields>,
  { db, caller, body }: Request<Fields>,
  now: Date,
): Promise<DirectWrite | undefined> {
  const { key, defaults } = kind;
  const sent = fieldsIn(body);
  if (!kind.areOwnFields(sent) || !(await mayUse(db, caller, raising(kind)))) return undefined;
  const fields = withDefaults<Fields>({ ...defaults, ...sent }, defaults);
  return {
    row: {
      ...kind.columnsOf(fields),
      ...pauseColumns({ paused: false }, fields.paused, { caller, now }),
    },
    parts: [openedWith(key, ianaName(fields.time_zone!)!, kind.limitsOf(fields))],
  };
}

/** Builds the single-statement update of an owner. Undefined as for `buildOwnerInsert`. */
export async function changedOwner<Fields extends OwnerFields>(
  kind: OwnerKind<Fields>,
  { db, caller, body }: Request<Fields>,
): Promise<DirectWrite | undefined> {
  const sent = fieldsIn(body);
  // In another time zone the current windows of caps end at other times.
  if (!kind.areOwnFields(sent) || 'time_zone' in sent) return undefined;
  const fields = withDefaults<Fields>(sent as Fields, kind.defaults);
  const limits = kind.limitsOf(fields);
  const has_limits = Object.keys(limits).length > 0;
  if (has_limits && !(await mayUse(db, caller, raising(kind)))) return undefined;
  return {
    ...pausing(fields, caller, kind.columnsOf(fields)),
    parts: has_limits ? [changedWith(kind.key, limits)] : [],
  };
}

export async function openCaps<Fields extends OwnerFields>(
  tx: Db,
  kind: OwnerKind<Fields>,
  { id, fields, caller }: { id: bigint; fields: Fields; caller: Caller },
): Promise<void> {
  await openLimits(tx, ownerOf(kind, id), {
    zone: ianaName(fields.time_zone ?? kind.defaults.time_zone!)!,
    limits: kind.limitsOf(fields),
    may_raise: await mayUse(tx, caller, raising(kind)),
  });
}

interface CapChange<Fields> {
  id: bigint;
  fields: Fields;
  /** The owner's time zone before the change; only needed when `fields` has one. */
  time_zone: string | undefined;
  caller: Caller;
  now: Date;
}

/**
 * Changes the caps of a locked owner, in the transaction that changes the owner. Returns true when
 * the caller may raise them.
 */
export async function changeCaps<Fields extends OwnerFields>(
  tx: Db,
  kind: OwnerKind<Fields>,
  { id, fields, time_zone: before, caller, now }: CapChange<Fields>,
): Promise<boolean> {
  const { time_zone } = fields;
  const record = { table: kind.table, references: [String(id)] };
  const may_raise = await mayUse(tx, caller, raising(kind), record);
  await changeLimits(tx, ownerOf(kind, id), {
    limits: kind.limitsOf(fields),
    may_raise,
    zone: time_zone && time_zone !== before ? ianaName(time_zone) : undefined,
    reset_totals: fields.reset_total_caps,
    now,
  });
  return may_raise;
}

const ownerOf = ({ key }: { key: 'buyer_id' | 'buyer_group_id' }, id: bigint) =>
  ({ [key]: id }) as CapOwner;
