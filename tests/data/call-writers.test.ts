import { readProcedures } from '../support/procedures';
import { loadStatements, readSource, sourceFiles } from '../support/sources';

// No trigger looks at calls, attempts and conversions: each statement that writes them records what
// follows from it. These tests read the statements.

const statements = loadStatements();

/** The files of the procedures that write, by what statements and procedures call. */
const FILES_OF_PROCEDURES = {
  apply_event: 'calls/apply_event.sql',
  begin_calls: 'calls/begin_calls.sql',
  try_begin_call: 'calls/begin_calls.sql',
  change_trunk: 'calls/change_trunk.sql',
  end_outbound_call: 'calls/end_outbound_call.sql',
  pay_at_dial: 'calls/settle_call.sql',
  settle_call: 'calls/settle_call.sql',
  start_round: 'calls/start_round.sql',
  store_recording: 'calls/store_recording.sql',
  record_payments: 'money/record_payments.sql',
  record_steps: 'outreach/record_steps.sql',
  record_trunk_fault: 'switches/record_trunk_fault.sql',
};

const texts = new Map(readProcedures().map(({ name, text }) => [name, text]));
const procedures = Object.entries(FILES_OF_PROCEDURES).map(
  ([name, file]) => [name, texts.get(file)!] as const,
);

/** A statement, with the procedures that it calls, and those that they call. */
function expandProcedures(text: string): string {
  const bodies = new Set([text]);
  for (const body of bodies)
    for (const [name, called] of procedures) if (body.includes(`${name}(`)) bodies.add(called);
  return [...bodies].join('\n');
}

/** The names of the statements whose text has this. */
const listWriters = (pattern: RegExp) =>
  [...statements.values()]
    .filter(({ text }) => pattern.test(expandProcedures(text)))
    .map(({ name }) => name);
const withoutAny = (writers: readonly string[], pattern: RegExp) =>
  writers.filter((name) => !pattern.test(expandProcedures(statements.get(name)!.text))).sort();

test('every procedure that writes calls, their attempts or conversions is looked at', () => {
  const writers = [...texts].flatMap(([name, text]) =>
    /\b(INSERT INTO|UPDATE) (calls|call_attempts|conversions)\b/.test(text) ? [name] : [],
  );
  expect(writers).toEqual([...new Set(Object.values(FILES_OF_PROCEDURES))]);
});

/** Removes a company: nothing is left of what a recording would change. */
const REMOVAL = 'privacy.delete_company_rows';
/** Statements that write only columns whose change nothing records. */
const UNRECORDED = {
  calls: [
    // The number of conferences, which nothing shows.
    'calls.add_conference',
  ],
  call_attempts: [
    // Through which line a buyer is dialed.
    'calls.change_trunk',
    // When a leg of the carrier is to stop ringing.
    'calls.claim_legs_to_stop',
    // The request for its recording.
    'calls.mark_recorded',
    // The carrier's name of its leg.
    'calls.set_leg',
    // The number of a person, and with the call itself.
    'erasure.erase_call_attempts',
    'retention.delete_call_attempts_of_calls',
  ],
  conversions: [
    // The dollars of a conversion, and that it was returned, are events of its call.
    'erasure.erase_conversions',
    'retention.delete_conversions_of_calls',
    // Changes at another service notify no one.
    'migration.move_conversions',
  ],
};

test.each([
  [
    'calls',
    /\b(INSERT INTO|UPDATE|DELETE FROM) calls\b/,
    /record_(new_call|call_change|deleted_call|moved_call)\(/,
  ],
  ['call_attempts', /\b(INSERT INTO|UPDATE|DELETE FROM) call_attempts\b/, /record_attempt_event\(/],
  ['conversions', /\b(INSERT INTO|UPDATE|DELETE FROM) conversions\b/, /record_conversion_event\(/],
] as const)('every statement that writes %s records it', (table, writes, records) => {
  const writers = listWriters(writes);
  expect(writers.length).toBeGreaterThan(4);
  expect(withoutAny(writers, records)).toEqual([...UNRECORDED[table], REMOVAL].sort());
});

test('what has no recording writes no column that a recording is about', () => {
  const text = UNRECORDED.calls.map((name) => statements.get(name)!.text).join();
  expect(/UPDATE calls\s+SET (.*)/.exec(text)![1]).toBe('conferences = conferences + 1');
  for (const name of UNRECORDED.call_attempts)
    expect(statements.get(name)!.text).not.toMatch(/\banswered_at\s*=/);
});

test('in a transaction, the events of each are completed at its end', () => {
  const recording = listWriters(
    /\brecord_(new_call|call_change|deleted_call|attempt_event|conversion_event)\(/,
  );
  expect(recording.length).toBeGreaterThan(12);
  expect(recording.filter((name) => !statements.get(name)!.options.records)).toEqual([]);
});

test('whoever writes the end or the duration of a call writes what the service costs', () => {
  const ends = listWriters(
    /\b(INSERT INTO calls\b[^;]*\bended_at|UPDATE calls\b[^;]*\b(ended_at|total_duration)\s*=)/,
  );
  expect(ends.length).toBeGreaterThan(7);
  // The cost at another service is known.
  expect(withoutAny(ends, /service_cost_(of|after)\(/)).toEqual(['migration.move_calls']);
});

test('nothing else writes them', () => {
  const sql = /\b(INSERT INTO|UPDATE|DELETE FROM) (calls|call_attempts|conversions)\b/;
  const prisma =
    /\.(call|callAttempt|conversion)\.(create|update|upsert|delete)|\b(calls|attempts|conversions): \{ (create|update|upsert|delete|connect|set)/;
  const otherFiles = sourceFiles.filter((file) => {
    const text = readSource(file);
    return prisma.test(text) || (sql.test(text) && !file.includes('/queries/'));
  });
  expect(otherFiles).toEqual([]);
});
