import { ALL_CAPABILITIES, isSignedByHmac, TWILIO_REST, type Dialect } from './dialect';

/** The second is that of its SDKs which were made of Twilio's. */
const HEADERS = ['x-signalwire-signature', 'x-twilio-signature'];

/** https://signalwire.com/docs/compatibility-api */
export const SIGNALWIRE: Dialect = {
  ...TWILIO_REST,
  name: 'signalwire',
  label: 'SignalWire',
  capabilities: {
    ...ALL_CAPABILITIES,
    // A call under way takes the URL of a new document, but no document.
    conference: false,
  },
  base_url: undefined,
  required: ['TWILIO_BASE_URL', 'TWILIO_SIGNING_KEY'],
  takes_twiml: false,
  signature_headers: HEADERS,
  isSigned: (request, key) => isSignedByHmac(HEADERS, request, key),
  unread: {},
  max_ring_seconds: 600,
  answers_with_buyer: true,
};
