import { ALL_CAPABILITIES } from './dialects/dialect';
import type { Carrier, Failure } from './carrier';

const REASON = 'This installation has no carrier (CARRIER=none): it';

const refuse = (deed: string): Failure => ({
  ok: false,
  retryable: false,
  code: 'not_supported',
  message: `${REASON} ${deed}.`,
});

/** For an installation whose softswitch brings all calls: nothing goes out from here. */
export const noCarrier = (): Carrier => ({
  name: 'none',
  instant: true,
  max_legs: Infinity,
  capabilities: ALL_CAPABILITIES,
  refusals: {
    calls: `${REASON} places no calls.`,
    texts: `${REASON} sends no texts.`,
  },
  sendSms: async () => refuse('sends no texts'),
  placeCall: async () => refuse('places no calls'),
  endCall: async () => refuse('has no calls of its own'),
  stopRinging: async () => refuse('has no calls of its own'),
  startRecording: async () => refuse('has no calls of its own'),
  playKeys: async () => refuse('has no calls of its own'),
  findLegs: async () => ({ ok: true, legs: [] }),
  searchNumbers: async () => refuse('sells no numbers; enter yours by POST /phone_numbers/import'),
  buyNumber: async () => refuse('sells no numbers; enter yours by POST /phone_numbers/import'),
  releaseNumber: async () => ({ ok: true }),
});
