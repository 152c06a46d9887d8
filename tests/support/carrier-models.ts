import { createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { DialectName } from '../../src/platform/carriers/dialects/dialect';
import type { Refused, Reply, Resource, State, TwilioRequest } from './twilio-state';

// Models of carriers that speak TwiML, made from their public documentation: addresses,
// credentials, signatures, what is read and what is answered. None of them is the carrier, and what
// a carrier does beyond its documentation, no model shows.

export interface CarrierKeys {
  /** For the one who checks signatures. */
  signing_key: string;
  /** For a carrier that signs with a key of its own. */
  private_key?: KeyObject;
}

export interface SignedForm {
  url: string;
  params: Record<string, string>;
  /** The form as it is sent. */
  text: string;
  at: Date;
}

export interface CarrierModel {
  /** Where its REST begins. */
  base: string;
  /** A path as Twilio's REST has it; undefined: there is no such address. */
  readPath(pathname: string, accountSid: string): string | undefined;
  authorize(account: { account_sid: string; auth_token: string }): string;
  createKeys(authToken: string): CarrierKeys;
  sign(form: SignedForm, keys: CarrierKeys): Record<string, string>;
  /** Elements and attributes that its reference lists, as far as they are written here. */
  elements: Record<string, readonly string[]>;
  ignores_filters?: boolean;
  /** Undefined for a request that it takes as Twilio does. */
  refuse?(state: State, request: TwilioRequest): Refused | undefined;
  /** Its answer, made of Twilio's. */
  rewrite?(reply: Reply, request: TwilioRequest): Reply;
  /** Parameters of the end of a <Dial> that it does not send. */
  leaves_out?: readonly string[];
}

const computeHmac = ({ url, params }: SignedForm, { signing_key }: CarrierKeys): string => {
  const pairs = Object.keys(params)
    .sort()
    .map((key) => key + params[key]);
  return createHmac('sha1', signing_key)
    .update(url + pairs.join(''))
    .digest('base64');
};

const readBelow =
  (base: string, suffix: string) =>
  (pathname: string, accountSid: string): string | undefined => {
    const start = `${base}/Accounts/${accountSid}/`;
    if (!pathname.startsWith(start) || !pathname.endsWith(suffix)) return undefined;
    return decodeURIComponent(pathname.slice(start.length, pathname.length - suffix.length));
  };

const LEG = ['url', 'statusCallback', 'statusCallbackEvent'];
const TWILIO_ELEMENTS = {
  Response: [],
  Say: [],
  Hangup: [],
  Reject: [],
  Record: ['action', 'maxLength'],
  Play: ['digits'],
  Gather: ['numDigits', 'timeout', 'action', 'actionOnEmptyResult'],
  Dial: ['timeout', 'callerId', 'action', 'record', 'timeLimit', 'answerOnBridge'],
  Number: ['sendDigits', ...LEG],
  Sip: LEG,
  Conference: [
    ...['beep', 'waitUrl', 'startConferenceOnEnter', 'endConferenceOnExit', 'maxParticipants'],
  ],
};

/** https://www.twilio.com/docs/voice */
const twilio: CarrierModel = {
  base: '',
  readPath: readBelow('/2010-04-01', '.json'),
  authorize: ({ account_sid, auth_token }) =>
    `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
  createKeys: (authToken) => ({ signing_key: authToken }),
  sign: (form, keys) => ({ 'x-twilio-signature': computeHmac(form, keys) }),
  elements: TWILIO_ELEMENTS,
};

/** Codes of errors as texts. */
const quoteCodes = (reply: Reply): Reply => {
  const { code } = reply.body as { code?: number };
  return code ? { ...reply, body: { ...reply.body, code: String(code) } } : reply;
};

const missing = (name: string): Refused => ({
  ...{ status: 422, code: 21205, message: `${name} is required, or cannot be read` },
});

/** https://signalwire.com/docs/compatibility-api: an order or a change of a call has a Url. */
const signalwire: CarrierModel = {
  ...twilio,
  base: '/api/laml',
  readPath: readBelow('/api/laml/2010-04-01', '.json'),
  createKeys: () => ({ signing_key: `PSK_${randomBytes(16).toString('hex')}` }),
  sign: (form, keys) => ({ 'x-signalwire-signature': computeHmac(form, keys) }),
  refuse: (_state, { method, path, form }) => {
    const isOfCall = method === 'POST' && /^Calls(\/[^/]+)?$/.test(path);
    if (isOfCall && form.has('Twiml')) return missing('Url');
    return method === 'POST' && path === 'Calls' && !form.has('Url') ? missing('Url') : undefined;
  },
  rewrite: quoteCodes,
  leaves_out: ['DialBridged'],
};

/**
 * https://www.somleng.org/docs and the source of Somleng, which is public: lists are not filtered,
 * either status ends a call, and a call is recorded by a verb only.
 */
const somleng: CarrierModel = {
  ...twilio,
  elements: {
    ...{ Response: [], Say: [], Play: [], Hangup: [], Reject: [], Number: [], Sip: [] },
    Record: ['action', 'maxLength'],
    Gather: ['numDigits', 'timeout', 'action', 'actionOnEmptyResult'],
    Dial: ['action', 'method', 'callerId', 'timeout'],
  },
  ignores_filters: true,
  refuse: (_state, { method, path, form }) => {
    if (form.get('Status') === 'canceled') form.set('Status', 'completed');
    return method === 'POST' && path.endsWith('/Recordings')
      ? { status: 404, code: 20404, message: 'The requested resource was not found' }
      : undefined;
  },
  rewrite: quoteCodes,
  leaves_out: ['DialBridged'],
};

const readTelnyxPath = (pathname: string, accountSid: string): string | undefined => {
  const path = readBelow('/v2/texml', '')(pathname, accountSid);
  return path && /^Calls(\/[^/]+(\/Recordings\.json)?)?$/.test(path)
    ? path.replace(/\.json$/, '')
    : undefined;
};

/** A record of a call names no call that it belongs to. */
const toTelnyxCall = ({ parent_call_sid: _parent, direction, ...record }: Resource) => ({
  ...record,
  direction: direction === 'inbound' ? 'inbound' : 'outbound',
});

/** https://developers.telnyx.com/api-reference/texml-rest-commands */
const telnyx: CarrierModel = {
  base: '/v2/texml',
  readPath: readTelnyxPath,
  authorize: ({ auth_token }) => `Bearer ${auth_token}`,
  createKeys: () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    // The last 32 bytes of its DER are the key itself.
    const bytes = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    return { signing_key: bytes.toString('base64'), private_key: privateKey };
  },
  sign: ({ text, at }, { private_key }) => {
    const timestamp = String(Math.floor(at.getTime() / 1000));
    return {
      'telnyx-timestamp': timestamp,
      'telnyx-signature-ed25519': sign(
        null,
        Buffer.from(`${timestamp}|${text}`),
        private_key!,
      ).toString('base64'),
    };
  },
  elements: { ...TWILIO_ELEMENTS, Gather: ['numDigits', 'timeout', 'action'] },
  refuse: (state, { method, path, form, headers }) => {
    if (method !== 'POST') return undefined;
    if (form.has('Twiml')) return missing('Texml');
    if (form.has('Texml')) form.set('Twiml', form.get('Texml')!);
    if (path !== 'Calls')
      return ['completed', null].includes(form.get('Status')) ? undefined : missing('Status');
    const isOrder =
      headers['content-type'] === 'application/json' &&
      form.get('ApplicationSid') === state.application_id &&
      (form.has('Url') || form.has('Texml')) &&
      Number(form.get('Timeout')) >= 5 &&
      Number(form.get('Timeout')) <= 120 &&
      /^[a-z ]+$/.test(form.get('StatusCallbackEvent') ?? '');
    return isOrder ? undefined : missing('ApplicationSid');
  },
  rewrite: ({ status, body }, { method, path }) => {
    const { code, message, calls, ...record } = body as Record<string, never>;
    if (code) {
      const error = { code: code === 21220 ? '90018' : String(code), title: message };
      return { status: status === 400 ? 422 : status, body: { errors: [error] } };
    }
    if (calls) return { status, body: { ...body, calls: (calls as Resource[]).map(toTelnyxCall) } };
    if (method === 'POST' && path.endsWith('/Recordings')) return { status, body };
    return { status, body: toTelnyxCall(record as unknown as Resource) };
  },
};

export const MODELS: Record<DialectName, CarrierModel> = { twilio, signalwire, somleng, telnyx };
