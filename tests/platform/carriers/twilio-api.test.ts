import { openCarrier } from '../../../src/platform/carriers';
import { fictionNumbers } from '../../../src/platform/carriers/inventory';
import { repetitions } from '../../support/repetitions';
import { startTwilio, type Trouble, type TwilioServer } from '../../support/twilio-server';
import { openTwilio, sms } from './requests';
import { patient } from '../../support/patience';

let server: TwilioServer;
beforeEach(async () => {
  server = await startTwilio(fictionNumbers().map(({ phone_number }) => phone_number));
});
afterEach(() => server.close());

describe('failures', () => {
  const FAILURES: [Trouble, object][] = [
    [
      { status: 400, code: 21408 },
      { retryable: false, code: 'twilio_21408' },
    ],
    [
      { status: 400, code: 21611 },
      { retryable: true, code: 'unavailable' },
    ],
    [
      { status: 401, code: 20003 },
      { retryable: true, code: 'unauthorized' },
    ],
    [
      { status: 422, text: '{"code":"21717","message":"no campaign"}' },
      { retryable: false, code: 'twilio_21717' },
    ],
    [{ status: 403 }, { retryable: true, code: 'unauthorized' }],
    [
      { status: 403, code: 21612 },
      { retryable: false, code: 'unreachable' },
    ],
    [{ status: 404 }, { retryable: true, code: 'not_found' }],
    [{ status: 422 }, { retryable: false, code: 'http_422' }],
    [{ status: 429 }, { retryable: true, code: 'unavailable' }],
    [{ status: 500 }, { retryable: true, code: 'unavailable', maybe_sent: true }],
    [{ status: 503 }, { retryable: true, code: 'unavailable', maybe_sent: true }],
    [
      { status: 200, text: 'null' },
      { retryable: true, code: 'unavailable', maybe_sent: true },
    ],
    [
      { status: 200, text: '{"sid":7}' },
      { retryable: true, code: 'unavailable', maybe_sent: true },
    ],
  ];

  test.each(FAILURES)('%p is %p', async (trouble, expected) => {
    server.trouble([trouble]);
    expect(await openTwilio(server).sendSms(sms())).toEqual({
      ok: false,
      message: expect.any(String),
      ...expected,
    });
    expect(server.messages).toEqual([]);
  });

  test('wrong credentials are retryable, and never repeated in a message', async () => {
    const outcome = await openTwilio(server, { auth_token: 'not-the-token' }).sendSms(sms());
    expect(outcome).toMatchObject({ ok: false, retryable: true, code: 'unauthorized' });
    expect(JSON.stringify(outcome)).not.toContain('not-the-token');
  });

  test('a redirect is not followed', async () => {
    server.trouble([{ status: 307, location: `${server.url}/elsewhere` }]);
    expect(await openTwilio(server).sendSms(sms())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'not_found',
    });
    expect(server.requests).toHaveLength(1);
  });

  test('silence is retryable after five seconds', async () => {
    server.trouble(['hang']);
    const began = Date.now();
    // In npm test after less.
    const options = repetitions(0, 1) > 0 ? {} : { timeout_ms: 300 };
    expect(await openTwilio(server, options).sendSms(sms())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
      maybe_sent: true,
    });
    expect(Date.now() - began).toBeLessThan(patient(6_000));
  });

  test('a carrier that is not there has sent nothing', async () => {
    const carrier = openTwilio(server);
    await server.close();
    expect(await carrier.sendSms(sms())).toEqual({
      ok: false,
      retryable: true,
      code: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await carrier.searchNumbers({ country: 'US' })).toMatchObject({
      ok: false,
      retryable: true,
    });
  });

  test('without its options it does not open', () => {
    expect(() => openCarrier('twilio', { account_sid: 'AC1' })).toThrow('public_url');
  });
});
