import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import {
  ALL_CAPABILITIES,
  buildAccountUrl,
  encodeForm,
  type Account,
  type Dialect,
  type EncodedFields,
  type Fields,
  type SignedRequest,
} from './dialect';

const SIGNATURE = 'telnyx-signature-ed25519';
const TIMESTAMP = 'telnyx-timestamp';
const MAX_AGE_SECONDS = 300;
const MAX_RING_SECONDS = 120;

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** RFC 8410: what precedes the 32 bytes of an Ed25519 key in DER. */
const KEY_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** https://developers.telnyx.com/api-reference/texml-rest-commands */
export const TELNYX: Dialect = {
  name: 'telnyx',
  label: 'Telnyx',
  capabilities: {
    ...ALL_CAPABILITIES,
    // A call can only be ended: a buyer that answers at this moment would be cut off.
    cancel_leg: false,
    // The result comes with a status of the call, not with the question what to do.
    detection: false,
  },
  base_url: 'https://api.telnyx.com/v2/texml',
  required: ['TWILIO_SIGNING_KEY', 'TELNYX_APPLICATION_ID'],
  buildUrl: (account, path) =>
    `${buildAccountUrl(account, '')}/${path}${path.endsWith('/Recordings') ? '.json' : ''}`,
  authorize: ({ auth_token }) => `Bearer ${auth_token}`,
  encode,
  failure_codes: {
    10016: 'invalid_number',
    90018: 'not_live',
  },
  ordered_directions: ['outbound', 'outbound-api'],
  takes_twiml: true,
  refusals: {
    texts: 'takes no text messages by TeXML. Texts need another carrier.',
    numbers:
      'sells and releases no numbers by TeXML. Buy or release the number in its portal, assign ' +
      'it to the TeXML application, and add it with POST /phone_numbers (`number`).',
    legs: 'does not list the legs of a call by TeXML: the call has no cost.',
  },
  signature_headers: [SIGNATURE],
  isSigned,
  findKeyFault: (key) =>
    readKey(key) ? undefined : `must be the public key of the account: ${KEY_BYTES} bytes, base64`,
  unread: { Gather: ['actionOnEmptyResult'] },
  max_ring_seconds: MAX_RING_SECONDS,
  answers_with_buyer: false,
};

/** An order of a call is JSON; a change of a call or its recording is a form. */
function encode({ application_id }: Account, path: string, fields: Fields): EncodedFields {
  const { Twiml, StatusCallbackEvent, ...rest } = fields;
  const adapted = {
    ...rest,
    ...(Twiml !== undefined && { Texml: Twiml }),
    ...(StatusCallbackEvent && { StatusCallbackEvent: [StatusCallbackEvent].flat().join(' ') }),
    // By default a beep tells both parties that a recording begins.
    ...(path.endsWith('/Recordings') && { PlayBeep: 'false' }),
  };
  if (path !== 'Calls') return encodeForm(adapted);
  const order = { ApplicationSid: application_id, ...adapted, Timeout: toSeconds(fields.Timeout) };
  return { content_type: 'application/json', body: JSON.stringify(order) };
}

const toSeconds = (text: Fields[string]): number | undefined =>
  text === undefined ? undefined : Math.min(Number(text), MAX_RING_SECONDS);

/**
 * The signature covers the time and the form, but not the URL. The key is the account's own, so
 * that no other customer of Telnyx can sign a request.
 */
function isSigned({ form_text, received_at, getHeader }: SignedRequest, key: string): boolean {
  const [signature, timestamp = ''] = [getHeader(SIGNATURE), getHeader(TIMESTAMP)];
  const publicKey = readKey(key);
  if (!publicKey || !signature || form_text === undefined || !isRecent(timestamp, received_at))
    return false;
  const bytes = Buffer.from(signature, 'base64');
  const message = Buffer.from(`${timestamp}|${form_text}`);
  return bytes.length === SIGNATURE_BYTES && verify(null, message, publicKey, bytes);
}

const isRecent = (timestamp: string, now: Date): boolean =>
  /^\d{1,12}$/.test(timestamp) &&
  Math.abs(now.getTime() / 1000 - Number(timestamp)) <= MAX_AGE_SECONDS;

function readKey(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES) return undefined;
  return createPublicKey({ key: Buffer.concat([KEY_HEADER, bytes]), format: 'der', type: 'spki' });
}
