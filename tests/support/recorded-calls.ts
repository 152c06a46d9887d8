/**
 * SQL of a test that writes calls, with their recording, as every statement of the product has it:
 * INSERT INTO calls …, UPDATE calls SET … WHERE … or DELETE FROM calls WHERE …. It returns the ids
 * of new calls.
 */
export function addRecording(text: string): string {
  const [, verb, rest] = /^\s*(INSERT INTO|UPDATE|DELETE FROM) calls\b([^]*)$/.exec(text) ?? [];
  if (!verb) throw new Error(`this writes no calls: ${text}`);
  if (verb === 'INSERT INTO')
    return `WITH call AS (
        INSERT INTO calls AS c ${rest!.replace(/RETURNING[^]*$/, '')}
        RETURNING c.id, c.uuid, c AS now
      )
      SELECT id, uuid FROM call WHERE record_new_call(call.now)`;
  if (verb === 'DELETE FROM')
    return `WITH call AS (DELETE FROM calls c ${rest} RETURNING c AS was)
      SELECT record_deleted_call(call.was) FROM call`;
  const [, set, where] = /^\s*SET\b([^]*)\bWHERE\b([^]*)$/.exec(rest!)!;
  return `WITH was AS (
      SELECT c.company_id AS of_company, c.id AS of_call, c AS row
      FROM calls c
      WHERE ${where}
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c SET ${set}
      FROM was
      WHERE c.company_id = was.of_company AND c.id = was.of_call
      RETURNING was.row AS was, c AS now
    )
    SELECT record_call_change(call.was, call.now) FROM call`;
}
