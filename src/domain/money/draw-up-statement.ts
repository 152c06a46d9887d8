import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/tenant';
import { HttpProblem } from '../../platform/errors';
import { findAccount } from './find-account';
import { INSERT_STATEMENT } from './queries/statements';

/** Time after the end of a period until all its entries are committed. */
const SETTLED_AFTER_MS = 60_000;

export async function drawUpStatement(
  db: Db,
  { buyer_id, traffic_source_id, time_zone, external_record_id, ...period }: Fields,
  now: Date,
): Promise<bigint> {
  const from = new Date(period.from);
  const to = new Date(period.to);
  if (from >= to) throw HttpProblem.field('to', 'invalid_value', 'must be after from');
  if (to.getTime() > now.getTime() - SETTLED_AFTER_MS)
    throw HttpProblem.field(
      'to',
      'invalid_value',
      'must be at least a minute ago: later entries may still be missing',
    );
  const account = await findAccount(db, { buyer_id, traffic_source_id });
  const [row] = await db.sql(INSERT_STATEMENT, {
    ...account,
    from,
    to,
    time_zone: time_zone ?? 'UTC',
    external_record_id: external_record_id ?? null,
    now,
  });
  return BigInt(row!.id);
}

type Fields = Schemas['StatementCreate'];
