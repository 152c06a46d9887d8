import fc from 'fast-check';
import { parseKeyword } from '../../../src/domain/outreach/keywords';
import { receiveTextMessage } from '../../../src/domain/outreach/receive-text-message';
import { carrierRequests } from '../../support/carrier-requests';
import { repetitions } from '../../support/repetitions';

// Coming back is the bare word; an end of contact is read generously.

const here = carrierRequests();
const { world, hook, text, optedOut, newLead } = here;

const DOORS: [string, (number: string, body: string) => Promise<{ status: number }>][] = [
  ['the carrier', (From, body) => hook('telephony/sms', text(body, { From }))],
  [
    'the sandbox',
    (from, body) =>
      world.api('post', 'text_messages/receive', { body: { from, to: '+12125550100', body } }),
  ],
];
const OPT_OUTS = [
  ...['stop', 'STOPALL', 'Unsubscribe', 'cancel', 'END', 'quit', 'revoke', 'optout', 'opt out'],
  ...['opt-out', 'arrêt', 'parar', 'ＳＴＯＰ'],
];

describe.each(DOORS)('a text by %s', (_name, says) => {
  test.each([
    ['Yes, I told you to stop texting me', true],
    ['Yes, please', true],
    ['start over? no', true],
    ['YES\n\nSTOP', true],
    ['START', false],
    [' “Unstop!” ', false],
    ['yes.', false],
    ['ＹＥＳ 👍', false],
    ['Y\u200bES', false],
  ])('of %j after STOP leaves opt_out %p', async (body, expected) => {
    const { number } = await newLead();
    await says(number, 'STOP');
    expect((await says(number, body)).status).toBeLessThan(300);
    expect(await optedOut(number)).toBe(expected);
  });

  test.each([
    'Stop texting me',
    'Hello,\nwho is this?\nSTOP',
    `${'please '.repeat(200)}\r\n- unsubscribe -\r\nSent from my phone`,
    'Yes\u2028opt out\u2028thanks',
  ])('of %j opts out', async (body) => {
    const { number } = await newLead();
    await says(number, body);
    expect(await optedOut(number)).toBe(true);
  });
});

describe('of a random text', () => {
  const word = fc.constantFrom('yes', 'start', 'Unstop', 'help', 'please', 'I', 'told', 'you', '…');
  const line = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
  const optOut = fc.constantFrom(...OPT_OUTS);
  const mark = fc.constantFrom('', '!', '.', ' …', '"', '\u200e', ' 🛑');

  test('a word that opts out counts alone on any line, and at the beginning', () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r', '\u2028', '\n\n');
    fc.assert(
      fc.property(
        ...([fc.array(line), optOut, mark, mark, fc.array(line), lineEnd, line] as const),
        (before, ending, left, right, after, end, rest) => {
          const alone = [...before, `${left}${ending}${right}`, ...after].join(end);
          expect([alone, parseKeyword(alone)]).toEqual([alone, 'opt_out']);
          expect(parseKeyword(`${left}${ending} ${rest}`)).toBe('opt_out');
        },
      ),
    );
  });

  test('only START, UNSTOP and YES by themselves come back', () => {
    const anything = fc.oneof(line, fc.string({ unit: 'binary' }), fc.tuple(word, mark));
    fc.assert(
      fc.property(anything, fc.string({ unit: 'grapheme' }), (some, more) => {
        const body = `${[some].flat().join('')}${more}`;
        const letters = body.normalize('NFKD').replace(/[^\p{L}\p{N}]+/gu, '');
        if (!/^(start|unstop|yes)$/i.test(letters)) expect(parseKeyword(body)).not.toBe('opt_in');
      }),
    );
    for (const body of ['start', 'UNSTOP', 'Yes']) expect(parseKeyword(body)).toBe('opt_in');
  });

  test('invisible characters and zero bytes in a word change nothing', () => {
    const invisible = fc.constantFrom('\0', '\ufffd', '\u200b', '\u00ad', '\ufeff', '\u202e');
    fc.assert(
      fc.property(optOut, invisible, (ending, character) => {
        expect(parseKeyword([...ending].join(character))).toBe('opt_out');
        expect(parseKeyword(`${ending}${character}${character}now`)).toBe('opt_out');
      }),
    );
  });
});

describe('START and STOP on two connections', () => {
  const AT = Date.parse('2027-01-12T17:00:00Z');
  let sequence = 0;
  const arrive = (number: string, body: string, at: number) =>
    receiveTextMessage(
      world.deps.tenants.of(world.company.id),
      {
        ...{ from: Number(number), to: 12125550100, body, carrier: 'twilio' },
        carrier_message_id: `race-${++sequence}`,
      },
      new Date(AT + at),
    );

  test.each<[string, [string, number][], boolean]>([
    [
      'START that is handled after a later STOP',
      [
        ['STOP', 2],
        ['START', 1],
      ],
      true,
    ],
    [
      'START between two STOPs',
      [
        ['STOP', 1],
        ['STOP', 3],
        ['START', 2],
      ],
      true,
    ],
    [
      'START after both',
      [
        ['STOP', 1],
        ['STOP', 3],
        ['START', 4],
      ],
      false,
    ],
    [
      'START from before a clock that was wrong',
      [
        ['STOP', 3_600_000],
        ['START', 1],
      ],
      false,
    ],
  ])('%s', async (_name, messages, expected) => {
    const { number } = await newLead();
    for (const [body, at] of messages) await arrive(number, body, at);
    expect(await optedOut(number)).toBe(expected);
  });

  test('end as the last of them says, or opted out, and none is lost', async () => {
    const messages = fc.array(fc.constantFrom('STOP', 'START'), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(messages, fc.func(fc.nat()), async (bodies, rank) => {
        const { number } = await newLead();
        const inOrder = bodies.map((body, at) => ({ body, at }));
        const handled = inOrder.toSorted((a, b) => rank(a.at) - rank(b.at));
        await Promise.all(handled.map(({ body, at }) => arrive(number, body, at)));
        const isOut = (await optedOut(number)) ?? false;
        if (bodies.at(-1) === 'STOP') expect([bodies, isOut]).toEqual([bodies, true]);
        if (!bodies.includes('STOP')) expect(isOut).toBe(false);
        const stored = await here.listMessages(number);
        const received = stored.filter(({ direction }) => direction === 'inbound');
        expect(received.length).toBe(bodies.length);
      }),
      { numRuns: repetitions(10, 100) },
    );
  });
});
