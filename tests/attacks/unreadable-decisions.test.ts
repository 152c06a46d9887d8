import { readFileSync } from 'node:fs';
import { ANSWERS } from '../support/bidders';
import { bidding } from '../support/bidding';
import { captureLog } from '../support/captured-log';
import { createWorld } from '../support/world';

// The attack: what a bidder had answered was stored in a decision, and PostgreSQL failed whenever it
// read that: reports and the decision were refused with 422 for ever, as if the request were wrong.

const BAD = '\ufffd';
const here = bidding();
const { get, bidder, shop, call, decided } = here;

const MIGRATION = readFileSync(
  'prisma/migrations/20261216010000_readable_decisions/migration.sql',
  'utf8',
);
/** Escapes in JSON: bad ones, and texts that only look so. */
const STORED = String.raw`\u0000\u0000 \ud83d \uDE00 \\u0000 \\\ud800 \\\\ud800 \u001f`;
const READ = `${BAD + BAD} ${BAD} ${BAD} \\u0000 \\${BAD} \\\\ud800 \x1f`;

async function storedCall(): Promise<number> {
  const offer = await shop([await bidder('odd')]);
  here.bidders.answer({ odd: ANSWERS.bid('nothing') });
  const session = await call(offer);
  await here.world.sql(
    `UPDATE call_decisions SET decision = replace(decision::text, 'nothing', $1)::json
      WHERE company_id = $2`,
    [STORED, here.world.company.id],
  );
  return session.id;
}

test('a decision of an older version is repaired by the migration, and only what is wrong of it', async () => {
  const id = await storedCall();
  await here.world.sql(MIGRATION);
  const [odd] = (await decided(id)).candidates;
  expect(odd).toMatchObject({ reason: 'bid_failed' });
  expect(odd.details.fault.split('10000: ')[1]).toBe(READ);
  for (const category of ['buyer', 'offer', 'day']) await get(`calls/reports?category=${category}`);
  const rows = () => here.world.sql('SELECT xmin, decision::text FROM call_decisions');
  const before = await rows();
  await here.world.sql(MIGRATION);
  expect(await rows()).toEqual(before);
});

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
