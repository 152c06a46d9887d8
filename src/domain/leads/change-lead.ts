import type { Lead } from '../../generated/prisma/client';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { CHANGE_LEAD } from './queries/change-lead';

/** Columns that change; undefined leaves a column unchanged. */
export type LeadChange = Partial<Record<keyof Lead, unknown>> & { updated_at: Date };

interface ChangeOptions {
  /** The history gets it. */
  event?: string;
  /** A lead that has ended is left unchanged. */
  only_live?: boolean;
}

/** Changes a lead. Returns whether it was changed. */
export async function changeLead(
  { sql }: Pick<Db, 'sql'>,
  id: bigint,
  change: LeadChange,
  { event, only_live = false }: ChangeOptions = {},
): Promise<boolean> {
  const changes = JSON.stringify(change, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  const log = { event: event ?? null, message: null };
  return (await sql(CHANGE_LEAD, { id, changes, only_live, ...log })).length > 0;
}

/** Throws 422 for tokens that exceed the limit of a lead; rethrows any other error unchanged. */
export function rejectTooLarge(error: unknown): never {
  if (isDataTooLarge(error))
    throw HttpProblem.field(
      'data',
      'limit_exceeded',
      'must not grow beyond 128 kB together with what the lead has already',
    );
  throw error;
}

/** In a cell, the name of the constraint ends with the number of a shard. */
const isDataTooLarge = (error: unknown): boolean =>
  /"leads_data_check(?:_\d+)?"/.test((error as { message?: string }).message ?? '');
