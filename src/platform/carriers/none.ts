import { ALL_CAPABILITIES } from './dialects/dialect';
import type { Carrier, Failure } from './carrier';

const refuse = (deed: string): Failure => ({
  ok: false,
  retryable: false,
  code: 'not_supported',
  message: `This installation has no carrier (CARRIER=none): it ${deed}.`,
});

const NO_CALLS = refuse('places no calls');
const NO_TEXTS = refuse('sends no texts');
const NO_CALLS_HERE = refuse('has no calls of its own');
const NO_NUMBERS = refuse('sells no numbers; enter yours by POST /phone_numbers/import');

/** For an installation whose softswitch brings all calls: nothing goes out from here. */
export const noCarrier = (): Carrier => ({
  name: 'none',
  instant: true,
  max_legs: Infinity,
  capabilities: ALL_CAPABILITIES,
  refusals: { calls: NO_CALLS.message, texts: NO_TEXTS.message },
  sendSms: async () => NO_TEXTS,
  placeCall: async () => NO_CALLS,
  endCall: async () => NO_CALLS_HERE,
  stopRinging: async () => NO_CALLS_HERE,
  startRecording: async () => NO_CALLS_HERE,
  playKeys: async () => NO_CALLS_HERE,
  findLegs: async () => ({ ok: true, legs: [] }),
  searchNumbers: async () => NO_NUMBERS,
  buyNumber: async () => NO_NUMBERS,
  releaseNumber: async () => ({ ok: true }),
});
