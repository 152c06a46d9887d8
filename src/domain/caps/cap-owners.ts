import type { Db } from '../../data/db';
import type { Caller } from '../../api/auth/caller';
import { withDefaults } from '../../api/request/defaults';
import { mayUse } from '../../api/access/field-permissions';
import { omitSerializer, type SingleWrite } from '../../api/records/write-directly';
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

export interface OwnerKind<Fields extends OwnerFields> {
  table: 'buyers' | 'buyer_groups';
  key: 'buyer_id' | 'buyer_group_id';
  defaults: Fields;
  /** True when each field is a column of the owner's row or a limit of its caps. */
  areOwnFields(fields: object): boolean;
  toColumns(fields: Fields): Record<string, unknown>;
  toLimits(fields: Fields): Limits;
}

interface Request<Fields> {
  db: Db;
  caller: Caller;
  body: Fields & { serializer?: unknown };
}

/** Raising a cap needs this permission: see x-lowerable in the contract. */
const toRoutingPermission = ({ table }: { table: string }) => `${table}:routing`;

/**
 * Builds the single-statement insert of an owner. Undefined when a field needs more than the
 * owner's columns and caps, or the caller must not raise limits.
 */
export async function buildOwnerInsert<Fields extends OwnerFields>(
  kind: OwnerKind<Fields>,
  { db, caller, body }: Request<Fields>,
  now: Date,
): Promise<SingleWrite | undefined> {
  const { key, defaults } = kind;
  const input = omitSerializer(body);
  if (!kind.areOwnFields(input) || !(await mayUse(db, caller, toRoutingPermission(kind))))
    return undefined;
  const fields = withDefaults<Fields>({ ...defaults, ...input }, defaults);
  return {
    row: {
      ...kind.toColumns(fields),
      ...buildPauseColumns({ paused: false }, fields.paused, { caller, now }),
    },
    parts: [insertCaps(key, ianaName(fields.time_zone!)!, kind.toLimits(fields))],
  };
}

/** Builds the single-statement update of an owner. Undefined as for `buildOwnerInsert`. */
export async function buildOwnerUpdate<Fields extends OwnerFields>(
  kind: OwnerKind<Fields>,
  { db, caller, body }: Request<Fields>,
): Promise<SingleWrite | undefined> {
  const input = omitSerializer(body);
  // In another time zone the current windows of caps end at other times.
  if (!kind.areOwnFields(input) || 'time_zone' in input) return undefined;
  const fields = withDefaults<Fields>(input as Fields, kind.defaults);
  const limits = kind.toLimits(fields);
  const hasLimits = Object.keys(limits).length > 0;
  if (hasLimits && !(await mayUse(db, caller, toRoutingPermission(kind)))) return undefined;
  return {
    ...buildPauseWrite(fields, caller, kind.toColumns(fields)),
    parts: hasLimits ? [updateCaps(kind.key, limits)] : [],
  };
}

export async function openCaps<Fields extends OwnerFields>(
  tx: Db,
  kind: OwnerKind<Fields>,
  { id, fields, caller }: { id: bigint; fields: Fields; caller: Caller },
): Promise<void> {
  await openLimits(tx, toCapOwner(kind, id), {
    zone: ianaName(fields.time_zone ?? kind.defaults.time_zone!)!,
    limits: kind.toLimits(fields),
    may_raise: await mayUse(tx, caller, toRoutingPermission(kind)),
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
