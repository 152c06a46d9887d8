import { ALL_CAPABILITIES, isSignedByHmac, TWILIO_REST, type Dialect } from './dialect';

const HEADERS = ['x-twilio-signature'];

export const TWILIO: Dialect = {
  ...TWILIO_REST,
  name: 'twilio',
  label: 'Twilio',
  capabilities: ALL_CAPABILITIES,
  base_url: 'https://api.twilio.com',
  idempotency_header: 'i-twilio-idempotency-token',
  signature_headers: HEADERS,
  isSigned: (request, key) => isSignedByHmac(HEADERS, request, key),
  unread: {},
  max_ring_seconds: 600,
  answers_with_buyer: true,
};
