import { isSignedByHmac, TWILIO_REST, type Dialect } from './dialect';

const HEADERS = ['x-twilio-signature'];

/**
 * A <Dial> is read for action, method, callerId and timeout, and for the text of each noun. Other
 * verbs are Reject, Play, Gather, Redirect, Say, Hangup, Record and Connect. The caller is answered
 * before buyers are dialed, and lists of calls are not filtered.
 */
export const SOMLENG: Dialect = {
  ...TWILIO_REST,
  name: 'somleng',
  label: 'Somleng',
  capabilities: {
    whisper: false,
    tones: false,
    leg_callbacks: false,
    cancel_leg: false,
    record_dial: false,
    record_leg: false,
    voicemail: true,
    conference: false,
    detection: false,
  },
  base_url: undefined,
  required: ['TWILIO_BASE_URL'],
  signature_headers: HEADERS,
  isSigned: (request, key) => isSignedByHmac(HEADERS, request, key),
  unread: { Dial: ['timeLimit', 'answerOnBridge'] },
  max_ring_seconds: 600,
  answers_with_buyer: false,
};
