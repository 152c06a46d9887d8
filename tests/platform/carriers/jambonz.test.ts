import { openCarrier } from '../../../src/platform/carriers';
import {
  JAMBONZ_SIGNATURE,
  computeJambonzSignature,
  isSignedByJambonz,
} from '../../../src/platform/carriers/jambonz-signature';
import { readLegOfTag, readTag } from '../../../src/platform/carriers/jambonz-words';
import { startJambonz, type JambonzServer } from '../../support/jambonz-rest';
import { ago, call, FROM, PUBLIC_URL, sms, TO } from './requests';

// Against a model of the REST of jambonz, made from its documentation.

let server: JambonzServer;
beforeEach(async () => void (server = await startJambonz()));
afterEach(() => server.close());

const open = (more: Partial<JambonzServer> = {}) =>
  openCarrier('jambonz', {
    public_url: `${PUBLIC_URL}/`,
    timeout_ms: 2_000,
    jambonz: { ...server, ...more },
  });
const placed = () => server.requests.filter(({ method }) => method === 'POST').length;

test('needs its settings', () => {
  expect(() => openCarrier('jambonz', { public_url: PUBLIC_URL })).toThrow(
    'jambonz needs base_url',
  );
});

describe('an order', () => {
  test('places a call', async () => {
    const outcome = await open().placeCall(call());
    expect(outcome).toEqual({
      ...{ ok: true, status: 'queued' },
      carrier_id: server.calls[0]!.call_sid,
    });
    expect(server.requests[0]!.body).toMatchObject({ from: FROM, to: { number: TO }, timeout: 30 });
    expect(server.requests[0]!.body).not.toHaveProperty('amd');
  });

  test.each([
    [{ status: 480, text: '{"msg":"no available feature servers"}' }, 'http_480', false, undefined],
    [{ status: 400, text: '{"msg":"missing or invalid to"}' }, 'http_400', false, undefined],
    [{ status: 401 }, 'unauthorized', true, undefined],
    [{ status: 404 }, 'not_found', true, undefined],
    [{ status: 429 }, 'unavailable', true, undefined],
    [{ status: 500 }, 'unavailable', true, true],
    ['break' as const, 'unavailable', true, true],
  ])('that is answered with %j fails as %s', async (trouble, code, retryable, maybeSent) => {
    server.troubles.push(trouble);
    const outcome = await open().placeCall(call());
    expect(outcome).toMatchObject({ ok: false, code, retryable });
    expect('maybe_sent' in outcome ? outcome.maybe_sent : undefined).toBe(maybeSent);
  });

  test('that was accepted without an answer is found, and not repeated', async () => {
    server.troubles.push('break after accepting');
    const request = call();
    expect(await open().placeCall(request)).toMatchObject({ maybe_sent: true });
    const again = await open().placeCall({ ...request, tried_at: ago(1_000) });
    expect(again).toMatchObject({ ok: true, carrier_id: server.calls[0]!.call_sid });
    expect(placed()).toBe(1);
  });

  test('is repeated where nothing of it is found: others are not ours', async () => {
    const other = await open().placeCall(call());
    Object.assign(server.calls[0]!, { from: FROM.slice(1) });
    const excludedIds = [other.ok ? other.carrier_id : ''];
    server.calls.push(
      { ...server.calls[0]!, call_sid: 'a', parent_call_sid: 'b' },
      { ...server.calls[0]!, call_sid: 'c', application_sid: 'another' },
      { ...server.calls[0]!, call_sid: 'd', from: '+12025550198' },
      { ...server.calls[0]!, call_sid: 'e', direction: 'inbound' },
    );
    const outcome = await open().placeCall(call({ tried_at: ago(1_000), excludedIds }));
    expect([outcome.ok, placed()]).toEqual([true, 2]);
  });

  test('is not repeated where the list cannot be read', async () => {
    server.troubles.push({ status: 200, text: '{"calls":[]}' });
    const outcome = await open().placeCall(call({ tried_at: ago(1_000) }));
    expect(outcome).toMatchObject({ ok: false, retryable: true, maybe_sent: true });
    expect(placed()).toBe(0);
  });
});

describe('the end of a call', () => {
  test.each([
    ['trying', 'no-answer', 2],
    ['ringing', 'no-answer', 2],
    ['in-progress', 'completed', 1],
  ])('that is %s is ordered as %s', async (before, after, requests) => {
    const outcome = await open().placeCall(call());
    server.calls[0]!.call_status = before;
    server.requests.splice(0);
    expect(await open().endCall(outcome.ok ? outcome.carrier_id : '')).toEqual({ ok: true });
    expect([server.calls[0]!.call_status, server.requests.length]).toEqual([after, requests]);
  });

  test('that is over is refused as not live', async () => {
    await open().placeCall(call());
    const { call_sid: sid } = server.calls[0]!;
    server.calls[0]!.call_status = 'completed';
    expect(await open().endCall(sid)).toMatchObject({ ok: false, code: 'not_live' });
    expect(await open().endCall('unknown')).toMatchObject({ ok: false, code: 'not_found' });
  });
});

test('the rest is refused by name, and nothing is sent', async () => {
  const carrier = open();
  const refused = { ok: false, retryable: false, code: 'not_supported' };
  expect(await carrier.sendSms(sms())).toMatchObject(refused);
  expect(await carrier.stopRinging('a')).toMatchObject(refused);
  expect(await carrier.startRecording('a', 'b')).toMatchObject(refused);
  expect(await carrier.playKeys({ leg_id: 'a', digits: '1', conference: 'c' })).toMatchObject(
    refused,
  );
  expect(await carrier.findLegs('a')).toMatchObject(refused);
  expect(await carrier.searchNumbers({ country: 'US' })).toMatchObject(refused);
  expect(carrier.refusals).toEqual({ texts: expect.stringContaining('CARRIER=jambonz') });
  expect(server.requests).toEqual([]);
});

describe('a signature', () => {
  const NOW = new Date('2026-06-01T16:00:00Z');
  const SECONDS = NOW.getTime() / 1000;
  const text = '{"call_sid":"ä"}';
  const isSigned = (header: string | undefined, more = {}, secret = 'wh_secret_1') =>
    isSignedByJambonz(
      {
        ...{ url: '', form: {}, form_text: undefined, json_text: text, received_at: NOW },
        getHeader: (name) => (name === JAMBONZ_SIGNATURE ? header : undefined),
        ...more,
      },
      secret,
    );
  const sign = (seconds = SECONDS, secret = 'wh_secret_1') =>
    `t=${seconds},v1=${computeJambonzSignature(secret, seconds, text).toString('hex')}`;

  test('is that of its documentation', () => {
    // openssl dgst -sha256 -hmac wh_secret_1 over "1780329600." and the body
    expect(sign()).toMatch(/^t=1780329600,v1=[0-9a-f]{64}$/);
    expect(isSigned(sign())).toBe(true);
  });

  test.each([
    ['of another time', sign(SECONDS - 301)],
    ['of the future', sign(SECONDS + 301)],
    ['with another secret', sign(SECONDS, 'wh_secret_2')],
    ['of another scheme', sign().replace('v1', 'v0')],
    ['that is cut off', sign().slice(0, -2)],
    ['with two times', `t=1,${sign()}`],
    ['without time', sign().replace(/^t=\d+,/, '')],
    ['that is empty', ''],
    ['that is missing', undefined],
  ])('%s is none', (_, header) => {
    expect(isSigned(header)).toBe(false);
  });

  test('needs a secret, and a body as it came', () => {
    expect(isSigned(sign(SECONDS, ''), {}, '')).toBe(false);
    expect(isSigned(sign(), { json_text: undefined })).toBe(false);
    expect(isSigned(sign(), { json_text: `${text} ` })).toBe(false);
  });
});

describe('a tag', () => {
  const UUID = '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';
  test.each<[unknown, object]>([
    [undefined, {}],
    ['text', {}],
    [[], {}],
    [{ number: 5, key: 'x', call: [UUID], detect: 'x', answered_by: 'human' }, {}],
    [{ number: '12', key: `${UUID} ` }, {}],
    [
      { number: '12125550100', key: UUID, call: UUID, detect: 'at_once', answered_by: 'machine' },
      { number: '12125550100', key: UUID, call: UUID, detect: 'at_once', answered_by: 'machine' },
    ],
  ])('%j is read as far as it is one', (value, tag) => {
    expect(readTag(value)).toEqual(tag);
  });

  test.each<[unknown, string | undefined, string | undefined]>([
    [{ legs: { '+1': UUID } }, '+1', UUID],
    [{ legs: { '+1': UUID } }, '+2', undefined],
    [{ legs: { '+1': UUID } }, undefined, undefined],
    [{ legs: { '+1': 'x' } }, '+1', undefined],
    [{ legs: {} }, 'constructor', undefined],
    [{ legs: null }, '+1', undefined],
    [null, '+1', undefined],
  ])('%j names the leg to %j', (value, address, attempt) => {
    expect(readLegOfTag(value, address)).toBe(attempt);
  });
});
