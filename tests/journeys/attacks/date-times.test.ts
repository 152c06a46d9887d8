import { parseInstant } from '../../../src/platform/time/zone';
import { expectNoHold } from '../../support/event-loop';
import { openShop } from '../../support/leads';
import { useWorld } from '../../support/use-world';

// The attack: 200 kB of "12:34" as a time, sent with a public lead token, took 7 s of a pattern.

const world = useWorld();
const { api } = world;
let leadToken: string;
beforeAll(async () => {
  leadToken = (await openShop(world, [])).schedule.lead_token;
});

/** Texts on which a pattern that backtracks takes the square of their length, or more. */
const NASTY: [string, (chars: number) => string][] = [
  ['times', (chars) => `${'12:34'.repeat(chars / 5)}\n 12:34`],
  ['dates', (chars) => '2026-01-31T00:00'.repeat(chars / 16)],
  ['digits', (chars) => '1'.repeat(chars)],
  ['blanks', (chars) => `2026-01-31${' '.repeat(chars)}x`],
  ['zeros of a second', (chars) => `2026-01-31 00:00:00.${'0'.repeat(chars)}`],
  ['colons', (chars) => `${':'.repeat(chars)} 12:34`],
];

test.each(NASTY)('a time of 60 kB of %s is set aside, and holds up nobody', async (_, text) => {
  const send = (scheduleCallbackAt: string) =>
    api('post', 'leads', {
      auth: null,
      body: {
        lead_token: leadToken,
        caller_id: '3105550113',
        schedule_callback_at: scheduleCallbackAt,
      },
    });
  await send('never');
  await expectNoHold(async () => {
    const { status, body } = await send(text(60_000));
    expect([status, body.warnings]).toEqual([
      200,
      {
        schedule_callback_at: [
          'must NOT have more than 64 characters: kept as the token schedule_callback_at',
        ],
      },
    ]);
  });
});

test.each(NASTY)('a megabyte of %s with credentials holds up nobody either', async (_, text) => {
  const send = (expiresAt: string) =>
    api('post', 'access_tokens', {
      body: { name: 'k', kind: 'key_pair', expires_at: expiresAt },
    });
  await send('never');
  await expectNoHold(async () => {
    const { status, body } = await send(text(1_000_000));
    expect([status, Object.keys(body.errors)]).toEqual([422, ['expires_at']]);
  });
});

test('a time has 64 characters, and what is longer is not looked at', () => {
  const spelled = `2026-01-31 08:00:00${' '.repeat(40)}+0000`;
  expect(spelled).toHaveLength(64);
  expect(parseInstant(spelled)).toEqual(new Date('2026-01-31T08:00:00Z'));
  expect(parseInstant(` ${spelled}`)).toBeUndefined();
});
