import { uuidv7 } from '../../src/db/uuid';
import { recorded } from './recorded-calls';
import type { Company, World } from './world';

export type CallFields = Record<string, unknown>;

/** Inserts calls and what belongs to them: only callers make some through the API. */
export function callsOf(
  { sql }: Pick<World, 'sql'>,
  { id: company_id }: Company,
  /** Inserts calls without recording them. */
  { unseen = false } = {},
) {
  const insert = async (table: string, fields: CallFields) => {
    const names = Object.keys(fields);
    const values = ['company_id', ...names].map((_, n) => `$${n + 1}`);
    const text = `INSERT INTO ${table} (company_id, ${names.join(', ')})
      VALUES (${values.join(', ')}) RETURNING *`;
    const [row] = await sql<{ id: string; uuid: string }>(
      table === 'calls' && !unseen ? recorded(text) : text,
      [company_id, ...Object.values(fields)],
    );
    return { id: Number(row!.id), uuid: row!.uuid };
  };
  return {
    /** An inbound call that has ended, unless the fields say otherwise. */
    call: async (fields: CallFields = {}) => {
      const made = await insert('calls', {
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
        [company_id, count],
      );
      return made;
    },
    attempt: (call_id: number, buyer_id: number, fields: CallFields = {}) =>
      insert('call_attempts', {
        uuid: uuidv7(Date.now()),
        call_id,
        round: 1,
        buyer_id,
        connect_to: '+13105550111',
        status: 'no_answer',
        timeout_seconds: 30,
        press_one_to_accept: false,
        dial: '{}',
        ...fields,
      }),
    event: (call_id: number, event: string, buyer_id?: number) =>
      insert('call_events', { call_id, event, buyer_id: buyer_id ?? null, details: '{}' }),
    /** A decision with the reason for each buyer; null for those that could take the call. */
    decision: (
      call_id: number,
      round: number,
      reasons: readonly [buyer_id: number, reason: string | null][],
    ) => {
      const columnsOf = (ids: number[]) => ({
        tiers: [[1, ids.length]],
        weights: [[1, ids.length]],
        by: [['tier', ids.length]],
      });
      const of = (wanted: string | null) =>
        reasons
          .flatMap(([buyer_id, reason]) => (reason === wanted ? [buyer_id] : []))
          .toSorted((a, b) => a - b);
      const faults = [...new Set(reasons.map(([, reason]) => reason))]
        .filter((reason) => reason !== null)
        .map((reason) => ({
          reason,
          message: null,
          details: null,
          ids: of(reason),
          ...columnsOf(of(reason)),
        }));
      const steps = of(null).map((id, n, ids) => [id - (ids[n - 1] ?? 0), 1]);
      const open = {
        steps,
        ...columnsOf(of(null)),
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
        [company_id, call_id, round, decision],
      );
    },
  };
}
