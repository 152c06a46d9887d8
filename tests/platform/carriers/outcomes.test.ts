import { randomUUID } from 'node:crypto';
import { openCarrier } from '../../../src/platform/carriers';
import {
  CALL_STATUSES,
  FAILURE_CODES,
  MESSAGE_STATUSES,
  type Carrier,
  type CarrierName,
  type Outcome,
} from '../../../src/platform/carriers/carrier';
import { DIALECTS } from '../../../src/platform/carriers/dialects';
import { fictionNumbers } from '../../../src/platform/carriers/inventory';
import { MAGIC_NUMBERS } from '../../../src/platform/carriers/sandbox';
import {
  toCallStatus,
  toFailureCode,
  toMessageStatus,
} from '../../../src/platform/carriers/twilio-words';
import { startTwilio, type TwilioServer } from '../../support/twilio-server';
import { ago, call, openTwilio, sms } from './requests';

let server: TwilioServer;
beforeEach(async () => {
  server = await startTwilio(fictionNumbers().map(({ phone_number }) => phone_number));
});
afterEach(() => server.close());

/** Those that take orders of all kinds, and answer them. */
const OPEN: Record<Exclude<CarrierName, 'none' | 'softswitch' | 'jambonz'>, () => Carrier> = {
  sandbox: () => openCarrier('sandbox'),
  twilio: () => openTwilio(server),
};

/** How a thing ended, in our words: the sandbox knows it at once, Twilio tells it later. */
function readOutcome(
  outcome: Outcome<string>,
  collection: 'messages' | 'calls',
  toStatus: (status: string) => string | undefined,
) {
  if (!outcome.ok) return { code: outcome.code };
  const record = server[collection].find(({ sid }) => sid === outcome.carrier_id);
  if (!record) return { status: outcome.status, code: outcome.code };
  return {
    status: toStatus(String(record.status)),
    code: record.error_code ? toFailureCode(String(record.error_code), DIALECTS.twilio) : undefined,
  };
}

describe.each(Object.entries(OPEN))('%s', (name, open) => {
  test('says who it is', () => {
    expect(open()).toMatchObject({ name, instant: name === 'sandbox' });
  });

  test('a text is sent, and arrives', async () => {
    const outcome = await open().sendSms(sms());
    expect(outcome).toEqual({
      ok: true,
      carrier_id: expect.stringMatching(/^S[BM][0-9a-f]{32}$/),
      status: expect.any(String),
    });
    expect(MESSAGE_STATUSES).toContain(outcome.ok && outcome.status);
    expect(readOutcome(outcome, 'messages', toMessageStatus)).toEqual({ status: 'delivered' });
  });

  test.each(['+13105550160', 'sip:desk@example.com;transport=tls'])(
    'a call is placed and connected to %s',
    async (connectTo) => {
      const outcome = await open().placeCall(call({ connect_to: connectTo }));
      expect(outcome).toMatchObject({ ok: true });
      expect(CALL_STATUSES).toContain(outcome.ok && outcome.status);
      expect(readOutcome(outcome, 'calls', toCallStatus)).toMatchObject({ status: 'completed' });
    },
  );

  test.each(Object.entries(MAGIC_NUMBERS).map(([last, magic]) => ({ last, ...magic })))(
    'a number that ends in $last: $meaning',
    async ({ last, sms: text, call: ring }) => {
      const carrier = open();
      const to = `+1310555${last}`;
      const [sentMessage, placed] = [
        await carrier.sendSms(sms({ to })),
        await carrier.placeCall(call({ to })),
      ];
      const retryable = { retryable: last === '0104' };
      if (!sentMessage.ok) expect(sentMessage).toMatchObject(retryable);
      if (!placed.ok) expect(placed).toMatchObject({ ...retryable, message: expect.any(String) });
      expect(readOutcome(sentMessage, 'messages', toMessageStatus)).toMatchObject(
        text ? { code: text.code } : { status: 'delivered' },
      );
      let expected: object = { status: 'completed' };
      if (ring) expected = 'status' in ring ? { status: ring.status } : { code: ring.code };
      expect(readOutcome(placed, 'calls', toCallStatus)).toMatchObject(expected);
    },
  );

  test('a retry with the same key is the same text, call and number', async () => {
    const carrier = open();
    const number = { key: randomUUID(), phone_number: '+442079460123' };
    const same = async (ask: (triedAt?: Date) => Promise<Outcome<string>>) => {
      const [first, second] = [await ask(), await ask(ago(10))];
      expect(first).toMatchObject({ ok: true, carrier_id: expect.stringMatching(/./) });
      expect(second).toMatchObject({ ok: true, carrier_id: first.ok && first.carrier_id });
    };
    const [text, ring] = [sms(), call()];
    await same((triedAt) => carrier.sendSms({ ...text, tried_at: triedAt }));
    await same((triedAt) => carrier.placeCall({ ...ring, tried_at: triedAt }));
    await same((triedAt) => carrier.buyNumber({ ...number, tried_at: triedAt }));
  });

  test('two texts of the same words are two', async () => {
    const carrier = open();
    const [first, second] = [await carrier.sendSms(sms()), await carrier.sendSms(sms())];
    expect(first.ok && first.carrier_id).not.toBe(second.ok && second.carrier_id);
  });

  test('a retry does not take over what another key is known to have made', async () => {
    const carrier = open();
    const otherMessage = await carrier.sendSms(sms());
    const excludedIds = otherMessage.ok ? [otherMessage.carrier_id] : [];
    const outcome = await carrier.sendSms(sms({ tried_at: ago(10), excludedIds }));
    expect(outcome).toMatchObject({ ok: true });
    expect(excludedIds).not.toContain(outcome.ok && outcome.carrier_id);
  });

  describe('numbers', () => {
    const findNumbers = async (search: object) => {
      const answer = await open().searchNumbers({ country: 'US', ...search });
      if (!answer.ok) throw new Error(answer.message);
      return answer.numbers;
    };

    test.each([
      [{ country: 'US' }, /^\+1\d{3}55501\d\d$/],
      [{ country: 'US', prefix: '212' }, /^\+121255501\d\d$/],
      [{ country: 'US', prefix: '+1 (212) 555-013' }, /^\+1212555013\d$/],
      [{ country: 'US', prefix: '1212', query: '77' }, /^\+12125550177$/],
      [{ country: 'US', query: '+1 (212) 555-0177' }, /^\+12125550177$/],
      [{ country: 'US', query: '12125550177' }, /^\+12125550177$/],
      [{ country: 'GB', query: '020 7946 0123' }, /^\+442079460123$/],
      [{ country: 'US', query: 'jjj01**' }, /^\+1\d{3}55501\d\d$/],
      [{ country: 'US', query: '0142', limit: 1000 }, /^\+1\d{3}5550142$/],
      [{ country: 'US', toll_free: true }, /^\+18(00|44|66|77)55501\d\d$/],
      [{ country: 'US', toll_free: true, prefix: '800' }, /^\+18005550199$/],
      [{ country: 'CA', prefix: '416' }, /^\+141655501\d\d$/],
      [{ country: 'CA', toll_free: true }, /^\+18(55|88)55501\d\d$/],
      [{ country: 'GB' }, /^\+44(20794|16149|16329|77009)/],
      [{ country: 'GB', prefix: '0161' }, /^\+44161496\d{4}$/],
      [{ country: 'GB', prefix: '+44 20 7946' }, /^\+44207946\d{4}$/],
      [{ country: 'GB', toll_free: true }, /^\+448081570\d{3}$/],
      [{ country: 'AU', prefix: '02' }, /^\+612(5550|7010)\d{4}$/],
      [{ country: 'AU', query: '570006' }, /^\+61491570006$/],
      [{ country: 'AU', toll_free: true }, /^\+611800(160401|97570[789]|97571[01])$/],
    ])('%p finds numbers like %p', async (search, pattern) => {
      const numbers = await findNumbers(search);
      expect(numbers.length).toBeGreaterThan(0);
      const { country, toll_free = false } = search as { country: string; toll_free?: boolean };
      for (const number of numbers)
        expect(number).toEqual({
          phone_number: expect.stringMatching(pattern),
          country,
          toll_free,
        });
      expect(await findNumbers(search)).toEqual(numbers);
    });

    test('at most as many as asked for, and none of the excepted', async () => {
      const numbers = await findNumbers({ prefix: '212', limit: 3 });
      expect(numbers).toHaveLength(3);
      expect((await findNumbers({ prefix: '212' })).length).toBe(20);
      const rest = await findNumbers({ prefix: '212', except: [numbers[0]!.phone_number] });
      expect(rest).not.toContainEqual(numbers[0]);
    });

    test.each([
      { country: 'DE' },
      { country: 'XX' },
      { country: 'US', prefix: '999' },
      { country: 'GB', query: '999999999' },
    ])('%p finds none', async (search) => {
      expect(await findNumbers(search)).toEqual([]);
    });

    test('what was bought can be given back, again and again, and then bought again', async () => {
      const carrier = open();
      const phoneNumber = '+442079460124';
      const buy = async () => {
        const outcome = await carrier.buyNumber({ key: randomUUID(), phone_number: phoneNumber });
        return outcome.ok ? outcome.carrier_id : Promise.reject(new Error(outcome.message));
      };
      const first = await buy();
      expect(await carrier.releaseNumber(first)).toEqual({ ok: true });
      expect(await carrier.releaseNumber(first)).toEqual({ ok: true });
      expect(await buy()).not.toBe(first);
    });

    test('what was found can be bought, what is not for sale cannot', async () => {
      const carrier = open();
      for (const { phone_number } of await findNumbers({ country: 'GB', limit: 2 }))
        expect(await carrier.buyNumber({ key: randomUUID(), phone_number })).toMatchObject({
          ok: true,
          status: 'bought',
        });
      expect(
        await carrier.buyNumber({ key: randomUUID(), phone_number: '+13105550101' }),
      ).toMatchObject({
        ok: false,
        retryable: false,
        code: 'not_available',
      });
    });
  });
});

describe('sandbox', () => {
  test('has no magic in a number that may be somebody’s, nor in its own numbers', async () => {
    for (const to of ['+13105551101', '+13102220101', '+442079460101'])
      expect(await openCarrier('sandbox').sendSms(sms({ to }))).toMatchObject({
        status: 'delivered',
      });
    expect(
      fictionNumbers().filter(({ phone_number }) => /^\+1\d{3}555010\d$/.test(phone_number)),
    ).toEqual([]);
    expect(new Set(fictionNumbers().map(({ phone_number }) => phone_number)).size).toBe(
      fictionNumbers().length,
    );
  });

  test('every code it answers means the same at every carrier', () => {
    const codes = Object.values(MAGIC_NUMBERS).flatMap(({ sms: text, call: ring }) => [
      text?.code,
      ring && 'code' in ring ? ring.code : undefined,
    ]);
    for (const code of codes.filter((code) => code !== undefined))
      expect(Object.keys(FAILURE_CODES)).toContain(code);
  });
});
