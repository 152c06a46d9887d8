import fc from 'fast-check';
import type { DialedLeg } from '../../../src/domain/telephony/dialed-leg';
import { buildTwiml, whisperTwiml } from '../../../src/domain/telephony/twiml';
import type { Instruction } from '../../../src/domain/routing/engine/progress';
import { DIALECTS } from '../../../src/platform/carriers/dialects';
import { readTwiml } from '../../support/twiml-caller';

const urls = {
  dial_status: 'https://a.example/dial_status?call=1&round=1',
  voicemail: 'https://a.example/voicemail?call=1',
  attempt_status: (attempt: string) => `https://a.example/attempt_status?call=1&attempt=${attempt}`,
  whisper: (attempt: string) => `https://a.example/whisper?call=1&attempt=${attempt}`,
};
const leg = (more: Partial<DialedLeg> = {}): DialedLeg => ({
  attempt: 'a',
  number: '+12125550101',
  timeout_seconds: 30,
  caller_id: '+13105550188',
  dtmf_tones: null,
  headers: {},
  press_one_to_accept: false,
  record_calls: false,
  ...more,
});
const none: Instruction<DialedLeg> = {
  action: 'hang_up',
  reason: null,
  message: null,
  greeting: null,
  dial: [],
  attempt: null,
  prompt: null,
  cancel: [],
  fallback: null,
  max_seconds: null,
  sip_status: null,
  sip_reason: null,
  report_within_seconds: null,
};
const context = {
  dialect: DIALECTS.twilio,
  urls,
  greeting: null as string | null,
  number_called: '+12125550100',
  unanswered: true,
};
const dialing = (...dial: DialedLeg[]) => ({ ...none, action: 'dial' as const, dial });
const read = (instruction: Instruction<DialedLeg>, more: Partial<typeof context> = {}) =>
  readTwiml(buildTwiml(instruction, { ...context, ...more }));

test('a dial has the attributes that carriers know, and complete URLs', () => {
  expect(
    read(dialing(leg({ dtmf_tones: '1wW2', press_one_to_accept: true, record_calls: true })), {
      greeting: 'Hello',
    }),
  ).toMatchObject({
    name: 'Response',
    children: [
      { name: 'Say', text: 'Hello' },
      {
        name: 'Dial',
        attributes: {
          timeout: '30',
          callerId: '+13105550188',
          action: urls.dial_status,
          record: 'record-from-answer',
          timeLimit: '14400',
          answerOnBridge: 'true',
        },
        children: [
          {
            name: 'Number',
            attributes: {
              sendDigits: '1www2',
              url: urls.whisper('a'),
              statusCallback: urls.attempt_status('a'),
              statusCallbackEvent: 'initiated ringing answered completed',
            },
            text: '+12125550101',
          },
        ],
      },
    ],
  });
});

test('a SIP buyer gets headers of customers as parameters of its address', () => {
  const headers = { 'X-Lead': 'a b&c', Diversion: '<sip:1@example.com>' };
  const [dial] = read(dialing(leg({ number: 'sip:ada@pbx.example.com', headers }))).children;
  expect(dial!.children).toMatchObject([
    { name: 'Sip', text: 'sip:ada@pbx.example.com?X-Lead=a%20b%26c' },
  ]);
});

test('a SIP buyer is a <Sip>, which gets its tones when it answers', () => {
  const [dial] = read(
    dialing(leg({ number: 'sips:ada@pbx.example.com', dtmf_tones: '1' })),
  ).children;
  expect(dial!.children).toMatchObject([{ name: 'Sip', text: 'sips:ada@pbx.example.com' }]);
  expect(Object.keys(dial!.children[0]!.attributes)).toEqual([
    'url',
    'statusCallback',
    'statusCallbackEvent',
  ]);
});

test.each([
  [[leg()], '+13105550188'],
  [[leg({ caller_id: null })], '+12125550100'],
  [[leg(), leg({ caller_id: '+12125550177' })], '+12125550100'],
  [[leg(), leg()], '+13105550188'],
])('all dialed buyers see one number: %#', (legs, shown) => {
  expect(read(dialing(...legs)).children[0]!.attributes.callerId).toBe(shown);
});

test('it rings for the longest ring time, within what carriers accept', () => {
  const attributes = (...seconds: number[]) =>
    read(dialing(...seconds.map((timeoutSeconds) => leg({ timeout_seconds: timeoutSeconds }))))
      .children[0]!;
  expect([
    attributes(20, 40).attributes.timeout,
    attributes(1).attributes.timeout,
    attributes(900).attributes.timeout,
  ]).toEqual(['40', '5', '600']);
});

test.each([
  ['blacklisted', true, 'Reject'],
  ['offer_suppressed', true, 'Reject'],
  ['blacklisted', false, 'Hangup'],
  ['no_buyer_available', true, 'Hangup'],
])('%s, unanswered: %s is <%s>', (reason, unanswered, name) => {
  expect(read({ ...none, reason }, { unanswered }).children.map((verb) => verb.name)).toEqual([
    name,
  ]);
});

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('<Say>"&', '</Dial><Hangup/>', ']]>', '" url="x', '\u0000\ud800', '&#60;'),
);
const shape = (xml: string) => {
  const names: string[] = [];
  const walk = ({ name, children }: ReturnType<typeof readTwiml>) => (
    names.push(name),
    children.forEach(walk)
  );
  walk(readTwiml(xml));
  return names;
};

test('any configured text leaves exactly the intended elements', () => {
  fc.assert(
    fc.property(anything, anything, anything, anything, (words, number, callerId, tones) => {
      const about = {
        ...context,
        greeting: `x${words}`,
        number_called: callerId,
        urls: { ...urls, dial_status: words },
      };
      const dialed = leg({ attempt: words, number, caller_id: callerId, dtmf_tones: tones });
      const noun = /^sips?:/i.test(number) ? 'Sip' : 'Number';
      expect(shape(buildTwiml(dialing(dialed), about))).toEqual(['Response', 'Say', 'Dial', noun]);
      const fallback = (type: 'message' | 'voicemail' | 'number') => ({
        ...none,
        action: 'fallback' as const,
        fallback: { type, message: `x${words}`, number: `1${number}` },
      });
      expect(shape(buildTwiml(fallback('message'), about))).toEqual(['Response', 'Say', 'Hangup']);
      expect(shape(buildTwiml(fallback('voicemail'), about))).toEqual([
        'Response',
        'Say',
        'Record',
        'Hangup',
      ]);
      expect(shape(buildTwiml(fallback('number'), about))).toEqual([
        'Response',
        'Say',
        'Dial',
        'Number',
      ]);
      expect(shape(whisperTwiml(DIALECTS.twilio, words))).toEqual([
        'Response',
        'Gather',
        'Say',
        'Hangup',
      ]);
    }),
  );
});

test('spoken text is unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (words) => {
      expect(read(dialing(leg()), { greeting: `x${words}` }).children[0]!.text).toBe(`x${words}`);
    }),
  );
});
