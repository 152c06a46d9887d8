import { createHandlers } from '../../../src/main/handlers';
import { updateCaps } from '../../../src/domain/caps/cap-limits';
import { statements } from '../../../src/data/sql';
import { readProcedures } from '../../support/procedures';

// Decisions read only the caps that were written since: a writer that does not say so would leave
// them with caps as they were.

test('every statement and procedure that writes caps says which transaction did', () => {
  expect(createHandlers).toBeDefined();
  const writers = [...statements.values(), ...readProcedures()].filter(({ text }) =>
    /UPDATE call_limits\b/.test(text),
  );
  expect(writers.length).toBeGreaterThan(10);
  for (const { name, text } of writers) {
    const updates = text.split(/UPDATE call_limits\b/).length - 1;
    const marks = text.split('changed_by = pg_current_xact_id()').length - 1;
    expect([name, marks]).toEqual([name, updates]);
  }
});

test('so do the compiled writes of buyers and groups', () => {
  expect(updateCaps('buyer_id', { attempt_daily_limit: 1 }).computed).toMatchObject({
    changed_by: 'pg_current_xact_id()',
  });
});
