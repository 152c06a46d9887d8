import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { AttemptStatus } from '../routing/engine/progress';
import type { DialedBuyer } from './change-call';
import type { Dollars, PaidBefore } from './decide-dollars';
import { RECORD_PROGRESS } from './queries/record-progress';
import { RECORD_CONVERSION, RECORD_USE } from './queries/record-use';
import type { AttemptRow } from './read-call';
import type { NewEvent } from './record-call';

/** Effect of an event on a call; null leaves a column as it is. */
export interface Progress {
  /** By uuid. */
  attempts: ReadonlyMap<string, AttemptStatus>;
  /** Attempts that are open from now on: slots that none of them needs are released. */
  open: readonly AttemptRow[];
  events: readonly NewEvent[];
  status: string;
  connected: Pick<AttemptRow, 'dial' | 'uuid'> | undefined;
  /** When that buyer took the call, if that is only known afterwards. */
  taken_at?: Date | undefined;
  ended_at: Date | null;
  /** Seconds. */
  answered_duration: number | null;
  hangup_cause: string | null;
  recording_url: string | null;
  lease_until: Date;
}

export interface BuyerUse extends Omit<DialedBuyer, 'buyer_id'> {
  /** Null: only the source is paid. */
  buyer_id: number | null;
  dollars: Dollars;
  /** Set when it has just taken the call: tokens that it gives to the call and its lead. */
  takes?: { tokens: Record<string, string> } | undefined;
  agent_id?: Reference | null | undefined;
}

export interface Change {
  call_id: number;
  /** The version of the call that was read; null when the call is locked. */
  version: string | null;
  now: Date;
  progress?: Progress;
  use?: BuyerUse | undefined;
}

/**
 * `stale`: the call is no longer as it was read. A `PaidBefore` has the payments that were found:
 * they differ from those that the change expected, and nothing was written.
 */
export type RecordResult = 'written' | 'stale' | PaidBefore;

/** Writes what an event changes in one statement: all of it, or nothing. */
export async function recordChange(db: Pick<Db, 'sql'>, change: Change): Promise<RecordResult> {
  const { call_id, version, now, use } = change;
  const params = { call_id, version, now, ...toProgressParams(change) };
  if (!use) {
    const rows = await db.sql(RECORD_PROGRESS, params);
    return rows.length > 0 ? 'written' : 'stale';
  }
  const { conversion } = use.dollars;
  const all = { ...params, ...toUseParams(use) };
  const [row] = conversion
    ? await db.sql(RECORD_CONVERSION, {
        ...all,
        conversion_uuid: uuidv7(now.getTime()),
        buyer_conversion_id: conversion.id,
        conversion_name: conversion.name,
        conversion_revenue: conversion.revenue,
      })
    : await db.sql(RECORD_USE, all);
  if (!row) return 'stale';
  return row.is_written
    ? 'written'
    : { buyer_paid: row.buyer_paid!, source_paid: row.source_paid! };
}

const dropNulls = <Id>(ids: readonly (Id | null)[]): Id[] => ids.filter((id) => id !== null);

function toProgressParams({ progress, use, now }: Change) {
  const taker = progress?.connected?.uuid;
  const statuses = [...(progress?.attempts ?? [])].map(([uuid, status]) => ({
    ...{ uuid, status },
    takes: uuid === taker,
  }));
  const open = progress?.open ?? [];
  return {
    status: progress?.status ?? null,
    buyer_id: progress?.connected ? use!.buyer_id : null,
    connect_to: progress?.connected?.dial.number ?? null,
    has_answer: statuses.some(({ status, takes }) => takes || status === 'answered'),
    taken_at: progress?.taken_at ?? now,
    ended_at: progress?.ended_at ?? null,
    answered_duration: progress?.answered_duration ?? null,
    hangup_cause: progress?.hangup_cause ?? null,
    recording_url: progress?.recording_url ?? null,
    lease_until: progress?.lease_until ?? null,
    attempts: JSON.stringify(statuses),
    events: JSON.stringify([...(progress?.events ?? []), ...(use?.dollars.events ?? [])]),
    releases: progress !== undefined,
    open_buyers: open.map(({ buyer_id }) => buyer_id),
    open_groups: dropNulls(open.map(({ buyer_group_id }) => buyer_group_id)),
  };
}

function toUseParams({ buyer_id, buyer_group_id, dollars, takes, agent_id }: BuyerUse) {
  const { conversion, payout, buyer_seconds, source_seconds, expects } = dollars;
  const tokens = { ...takes?.tokens, ...conversion?.tokens };
  const leadTokens = takes?.tokens ?? {};
  return {
    ...expects,
    buyer_seconds,
    source_seconds,
    owner_id: buyer_id,
    owner_group_id: buyer_group_id,
    has_use: Boolean(takes ?? conversion) || payout !== null || buyer_seconds > 0,
    connection: takes ? 1 : 0,
    buyer_conversion: conversion ? 1 : 0,
    revenue: conversion?.added ?? 0,
    payout: payout ?? 0,
    pays_source: payout !== null,
    tokens: jsonOrNull(tokens),
    lead_tokens: jsonOrNull(leadTokens),
    takes_agent: takes !== undefined,
    agent_id: agent_id ?? null,
  };
}

const jsonOrNull = (tokens: Record<string, string>): string | null =>
  Object.keys(tokens).length > 0 ? JSON.stringify(tokens) : null;
