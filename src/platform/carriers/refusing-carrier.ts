import type { Carrier, CarrierName, Failure } from './carrier';
import { ALL_CAPABILITIES } from './dialects/dialect';

interface Refusals {
  /** Such as: This installation has no carrier. */
  subject: string;
  /** Why it ends, stops or records no calls. */
  about_calls: string;
}

/** A carrier without a telephone of its own: it refuses by name whatever it is asked to do. */
export function createRefusingCarrier(
  name: CarrierName,
  { subject, about_calls }: Refusals,
): Carrier {
  const refuse = (deed: string): Failure => ({
    ok: false,
    retryable: false,
    code: 'not_supported',
    message: `${subject}: it ${deed}.`,
  });
  const noCalls = refuse('places no calls');
  const noTexts = refuse('sends no texts');
  const noNumbers = refuse('sells no numbers; enter yours by POST /phone_numbers/import');
  const elsewhere = refuse(about_calls);
  return {
    name,
    instant: true,
    max_legs: Infinity,
    capabilities: ALL_CAPABILITIES,
    refusals: { calls: noCalls.message, texts: noTexts.message },
    sendSms: async () => noTexts,
    placeCall: async () => noCalls,
    endCall: async () => elsewhere,
    stopRinging: async () => elsewhere,
    startRecording: async () => elsewhere,
    playKeys: async () => elsewhere,
    findLegs: async () => ({ ok: true, legs: [] }),
    searchNumbers: async () => noNumbers,
    buyNumber: async () => noNumbers,
    releaseNumber: async () => ({ ok: true }),
  };
}
