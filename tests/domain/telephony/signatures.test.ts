import { computeSignature } from '../../../src/platform/carriers/signature';
import { carrierRequests, PUBLIC_URL, US, type Signed } from '../../support/carrier-requests';
import { ownNumber } from '../../support/leads';
import { createWorld, TWILIO_TOKEN } from '../../support/world';

const here = carrierRequests();
const { hook, text, listMessages, newAddress } = here;

describe('a request of a carrier', () => {
  test('is accepted with its signature and answered with an empty text/xml response', async () => {
    const res = await hook('telephony/sms', text('Hello'));
    expect([res.status, res.headers['content-type']]).toEqual([
      200,
      expect.stringMatching(/^text\/xml/),
    ]);
    expect(res.text).toBe('<?xml version="1.0" encoding="UTF-8"?><Response/>');
  });

  const query = 'key=019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';
  const message = { MessageSid: 'SM1', From: '+13107770001', To: US, Body: 'Hello', Empty: '' };
  test.each<[string, Signed]>([
    ['with another token', { token: 'another token' }],
    ['with an empty token', { token: '' }],
    ['without a signature', { headers: { 'X-Twilio-Signature': '' } }],
    [
      'with only the beginning of a signature',
      {
        headers: {
          'X-Twilio-Signature': computeSignature(
            TWILIO_TOKEN,
            `${PUBLIC_URL}/api/v1/telephony/sms`,
            message,
          ).slice(0, 10),
        },
      },
    ],
    ['with another value', { params: { ...message, Body: 'hello' } }],
    ['with another sender', { params: { ...message, From: '+13107770002' } }],
    [
      'with a missing parameter',
      { params: { MessageSid: 'SM1', From: '+13107770001', To: US, Body: 'Hello' } },
    ],
    ['with an additional parameter', { params: { ...message, NumMedia: '0' } }],
    ['with its values under other names', { params: { ...message, Body: '', Empty: 'Hello' } }],
    ['for another path', { url: 'telephony/message_status' }],
    ['for a URL with a query', { url: `telephony/sms?${query}` }],
    ['for another host', { url: 'https://calls.example.org/api/v1/telephony/sms' }],
    ['without encryption', { url: 'http://calls.example.com/api/v1/telephony/sms' }],
  ])('is rejected if it was signed %s', async (_name, signed) => {
    const res = await hook('telephony/sms', message, signed);
    expect([
      res.status,
      await listMessages('+13107770001'),
      await listMessages('+13107770002'),
    ]).toEqual([401, [], []]);
  });

  test('is rejected with a query other than the signed one', async () => {
    const report = { MessageSid: 'SM1', MessageStatus: 'delivered', From: US };
    const at = `telephony/message_status?${query}`;
    expect((await hook(at, report)).status).toBe(200);
    expect((await hook(at, report, { url: at.replace('c001', 'c002') })).status).toBe(401);
    expect((await hook(at, report, { url: 'telephony/message_status' })).status).toBe(401);
    expect((await hook('telephony/message_status', report)).body.errors).toEqual({
      key: [expect.any(String)],
    });
  });

  test('is verified by the public URL, behind any proxy, with or without the port', async () => {
    expect(
      (await hook('telephony/sms', text('a'), { headers: { Host: 'internal:3000' } })).status,
    ).toBe(200);
    expect(
      (
        await hook('telephony/sms', text('a'), {
          url: 'https://calls.example.com:443/api/v1/telephony/sms',
        })
      ).status,
    ).toBe(200);
  });

  test.each([
    'From[a]=b&To[]=c',
    'From[toString]=x&To[valueOf]=x',
    '__proto__[a]=b',
    'a=1&a=2',
    '',
  ])('is rejected as %j', async (body) => {
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': 'x'.repeat(28),
      'X-Forwarded-For': newAddress(),
    };
    expect(
      (await here.world.company.api('post', 'telephony/sms', { auth: null, headers, body })).status,
    ).toBe(401);
  });

  test('is rejected with any signature if no token is configured', async () => {
    const bare = await createWorld({ environment: { PUBLIC_URL, TWILIO_AUTH_TOKEN: '' } });
    await ownNumber(bare, bare.company);
    const statuses = [];
    for (const token of [TWILIO_TOKEN, '', 'undefined'])
      statuses.push((await hook('telephony/sms', text('STOP'), { token, to: bare })).status);
    const messages = await bare.sql('SELECT FROM text_messages');
    await bare.close();
    expect([statuses, messages]).toEqual([[401, 401, 401], []]);
  });
});
