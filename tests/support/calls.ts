import { uuidv7 } from '../../src/data/uuid';
import { addRecording } from './recorded-calls';
import type { Company, World } from './world';

export type CallFields = Record<string, unknown>;

/** Inserts calls and what belongs to them: only callers make some through the API. */
export function createCallWriter(
  { sql }: Pick<World, 'sql'>,
  { id: companyId }: Company,
  /** Inserts calls without recording them. */
  { unseen = false } = {},
) {
  const insert = async (table: string, fields: CallFields) => {
    const names = Object.keys(fields);
    const values = ['company_id', ...names].map((_, n) => `$${n + 1}`);
    const text = `INSERT INTO ${table} (company_id, ${names.join(', ')})
      VALUES (${values.join(', ')}) RETURNING *`;
    const [row] = await sql<{ id: string; uuid: string }>(
      table === 'calls' && !unseen ? addRecording(text) : text,
      [companyId, ...Object.values(fields)],
    );
    return { id: Number(row!.id), uuid: row!.uuid };
  };
  return {
    /** An inbound call that has ended, unless the fields say otherwise. */
    call: async (fields: CallFields = {}) => {
      const insertedCall = await insert('calls', {
        uuid: uuidv7(Date.now()),
        direction: 'inbound',
        from_number: fields.caller_number ?? 13105550199,
        to_number: 12125550100,
        caller_number: 13105550199,
        status: 'completed',
        carrier: 'sandbox',
        ...fields,
      });
      const count = fields.deleted_at ? 0 : 1;
      await sql(
        `INSERT INTO record_counts (company_id, resource, slot, n) VALUES ($1, 'calls', 0, $2)
        ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
        [companyId, count],
      );
      return insertedCall;
    },
    attempt: (callId: number, buyerId: number, fields: CallFields = {}) =>
      insert('call_attempts', {
        uuid: uuidv7(Date.now()),
        call_id: callId,
        round: 1,
        buyer_id: buyerId,
        connect_to: '+13105550111',
        status: 'no_answer',
        timeout_seconds: 30,
        press_one_to_accept: false,
        dial: '{}',
        ...fields,
      }),
    event: (callId: number, event: string, buyerId?: number) =>
      insert('call_events', { call_id: callId, event, buyer_id: buyerId ?? null, details: '{}' }),
    /** A decision with the reason for each buyer; null for those that could take the call. */
    decision: (
      callId: number,
      round: number,
      reasons: readonly [buyer_id: number, reason: string | null][],
    ) => {
      const buildColumns = (ids: number[]) => ({
        tiers: [[1, ids.length]],
        weights: [[1, ids.length]],
        by: [['tier', ids.length]],
      });
      const of = (target: string | null) =>
        reasons
          .flatMap(([buyerId, reason]) => (reason === target ? [buyerId] : []))
          .toSorted((a, b) => a - b);
      const faults = [...new Set(reasons.map(([, reason]) => reason))]
        .filter((reason) => reason !== null)
        .map((reason) => ({
          reason,
          message: null,
          details: null,
          ids: of(reason),
          ...buildColumns(of(reason)),
        }));
      const steps = of(null).map((id, n, ids) => [id - (ids[n - 1] ?? 0), 1]);
      const open = {
        steps,
        ...buildColumns(of(null)),
        group_ids: [[null, of(null).length]],
        at_once: [],
        first: null,
      };
      const decision = JSON.stringify({
        round,
        seed: 'seed',
        buyer_ids: [],
        caps: [],
        open,
        faults,
      });
      return sql(
        `INSERT INTO call_decisions (company_id, call_id, round, created_at, decision)
        VALUES ($1, $2, $3, now(), $4)`,
        [companyId, callId, round, decision],
      );
    },
  };
}
