import { captureLog } from '../../support/captured-log';
import { useWorld } from '../../support/use-world';

// The attack: what a bidder had answered was stored in a decision, and PostgreSQL failed whenever
// it read that: reports and the decision were refused with 422 for ever, as if the request were
// wrong.

const captured = captureLog();
const world = useWorld({ log: captured.log });

test('what cannot be read is an internal error in the log: no request is to blame', async () => {
  const offer = await world.create('offers', { name: 'Auto' });
  const call = { offer_id: offer, caller_number: '+13105550188' };
  const session = await world.create('call_sessions', call);
  await world.sql(
    `UPDATE call_decisions
        SET decision = regexp_replace(decision::text, '"seed":"[^"]*"', $1)::json`,
    [String.raw`"seed":"\\u0000"`],
  );
  const { status, body } = await world.api('get', `calls/${session}/decision`);
  expect([status, body.code]).toEqual([500, 'internal_error']);
  const errors = captured.lines().filter(({ err }) => err !== undefined);
  expect(errors).toMatchObject([{ msg: 'internal error', err: { code: '22P05' } }]);
});
