import type { Db } from '../../data/db';
import type { Caller } from '../../api/auth/caller';
import { mayUse } from '../../api/access/field-permissions';
import type { SingleWrite, StatementRequest } from '../../api/records/single-write';
import { buildPauseColumns, buildPauseWrite } from '../people/paused-by';
import { ianaName } from '../../platform/time/zone';
import { updateCaps, changeLimits, insertCaps, openLimits, type Limits } from './cap-limits';
import type { CapOwner } from './caps';

// Owners of caps (buyers and groups of buyers): the parts of a write that both share.

interface OwnerFields {
  paused?: boolean;
  time_zone?: string | null;
  reset_total_caps?: boolean;
}

export interface OwnerKind {
  table: 'buyers' | 'buyer_groups';
  key: 'buyer_id' | 'buyer_group_id';
  /** True for a field that is a limit, or a column of another name. */
  isLimitOrColumn(name: string): boolean;
  /** True for fields whose write takes more than columns. */
  needsTransaction?(fields: object): boolean;
  /** Columns other than fields of the same name. */
  toColumns?(fields: object): object;
  toLimits(fields: object): Limits;
}

/** Raising a cap needs this permission: see x-lowerable in the contract. */
const toRoutingPermission = ({ table }: { table: string }) => `${table}:routing`;

/**
 * The write of an owner as one statement. Undefined where a field needs more than the owner's
 * columns and caps, or the caller must not raise limits.
 */
export async function buildOwnerWrite(
  kind: OwnerKind,
  { db, caller, requested, isNew, now, ...write }: StatementRequest,
): Promise<SingleWrite | undefined> {
  const fields: OwnerFields = write.fields;
  const isOwn = (name: string) => name in write.columns || kind.isLimitOrColumn(name);
  if (!Object.keys(requested).every(isOwn) || kind.needsTransaction?.(requested)) return undefined;
  // In another time zone the current windows of caps end at other times.
  if (!isNew && 'time_zone' in requested) return undefined;
  const limits = kind.toLimits(fields);
  const hasLimits = Object.keys(limits).length > 0;
  if ((isNew || hasLimits) && !(await mayUse(db, caller, toRoutingPermission(kind))))
    return undefined;
  const row = { ...write.columns, ...kind.toColumns?.(fields) };
  if (!isNew)
    return {
      ...buildPauseWrite(fields, caller, row),
      parts: hasLimits ? [updateCaps(kind.key, limits)] : [],
    };
  return {
    row: { ...row, ...buildPauseColumns({ paused: false }, fields.paused, { caller, now }) },
    parts: [insertCaps(kind.key, ianaName(fields.time_zone!)!, limits)],
  };
}

/** Opens the caps of a new owner, whose fields have the defaults. */
export async function openCaps(
  tx: Db,
  kind: OwnerKind,
  { id, fields, caller }: { id: bigint; fields: OwnerFields; caller: Caller },
): Promise<void> {
  await openLimits(tx, toCapOwner(kind, id), {
    zone: ianaName(fields.time_zone!)!,
    limits: kind.toLimits(fields),
    may_raise: await mayUse(tx, caller, toRoutingPermission(kind)),
  });
}

interface CapChange {
  id: bigint;
  fields: OwnerFields;
  /** The owner's time zone before the change; only needed when `fields` has one. */
  time_zone: string | undefined;
  caller: Caller;
  now: Date;
}

/**
 * Changes the caps of a locked owner, in the transaction that changes the owner. Returns true when
 * the caller may raise them.
 */
export async function changeCaps(
  tx: Db,
  kind: OwnerKind,
  { id, fields, time_zone: before, caller, now }: CapChange,
): Promise<boolean> {
  const { time_zone } = fields;
  const record = { table: kind.table, references: [String(id)] };
  const mayRaise = await mayUse(tx, caller, toRoutingPermission(kind), record);
  await changeLimits(tx, toCapOwner(kind, id), {
    limits: kind.toLimits(fields),
    may_raise: mayRaise,
    zone: time_zone && time_zone !== before ? ianaName(time_zone) : undefined,
    reset_totals: fields.reset_total_caps,
    now,
  });
  return mayRaise;
}

const toCapOwner = ({ key }: { key: 'buyer_id' | 'buyer_group_id' }, id: bigint) =>
  ({ [key]: id }) as CapOwner;
