import type { Carrier, Failure } from './carrier';
import { createRefusingCarrier } from './refusing-carrier';

const REFUSING = createRefusingCarrier('softswitch', {
  subject: 'This installation calls through your own switches (CARRIER=switch)',
  about_calls: 'gives a switch commands about its calls',
});

/** Why a company without a switch cannot call. */
export const NO_SWITCH =
  'The company has no switch to place it (CARRIER=switch): register one by POST /switches, and ' +
  'let it ask for commands.';

/** Why a company cannot call at the moment. */
export const NO_LIVE_SWITCH =
  'No switch of the company is there to place it: none has sent a sync, or asked for commands, ' +
  'in the last three minutes.';

const AWAY: Failure = { ok: false, retryable: true, code: 'unavailable', message: NO_LIVE_SWITCH };

/**
 * Calls are placed by the switch of the company, by a command that is added in the transaction that
 * records the call (src/domain/switches/originate.ts): here they are only accepted. The switch asks
 * what to do at each step.
 */
export const softswitch = (): Carrier => ({
  ...REFUSING,
  refusals: { texts: REFUSING.refusals!.texts },
  placeCall: async ({ key, switch_id }) =>
    switch_id ? { ok: true, carrier_id: key, status: 'queued' } : AWAY,
});
