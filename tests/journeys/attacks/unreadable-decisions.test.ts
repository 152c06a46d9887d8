import { captureLog } from '../../support/captured-log';
import { createWorld } from '../../support/world';

// The attack: what a bidder had answered was stored in a decision, and PostgreSQL failed whenever
// it read that: reports and the decision were refused with 422 for ever, as if the request were
// wrong.

test('what cannot be read is an internal error in the log: no request is to blame', async () => {
  const captured = captureLog();
  const world = await createWorld({ log: captured.log });
  try {
    const post = async (path: string, body: object) =>
      (await world.company.api('post', path, { body })).body;
    const { offer } = await post('offers', { name: 'Auto' });
    const { call_session } = await post('call_sessions', {
      offer_id: offer.id,
      caller_number: '+13105550188',
    });
    await world.sql(
      `UPDATE call_decisions
        SET decision = regexp_replace(decision::text, '"seed":"[^"]*"', $1)::json`,
      [String.raw`"seed":"\\u0000"`],
    );
    const { status, body } = await world.company.api('get', `calls/${call_session.id}/decision`);
    expect([status, body.code]).toEqual([500, 'internal_error']);
    const errors = captured.lines().filter(({ err }) => err !== undefined);
    expect(errors).toMatchObject([{ msg: 'internal error', err: { code: '22P05' } }]);
  } finally {
    await world.close();
  }
});
