import type { Capabilities } from '../carrier';
import type { Dialect, DialectName } from './dialect';
import { SIGNALWIRE } from './signalwire';
import { SOMLENG } from './somleng';
import { TELNYX } from './telnyx';
import { TWILIO } from './twilio';

export const DIALECTS: Record<DialectName, Dialect> = {
  twilio: TWILIO,
  signalwire: SIGNALWIRE,
  somleng: SOMLENG,
  telnyx: TELNYX,
};

export interface DialectChoice {
  dialect?: DialectName;
  /** Overrides the capability of the dialect. */
  can_whisper?: boolean | undefined;
}

export function selectDialect({ dialect = 'twilio', can_whisper }: DialectChoice): Dialect {
  const { capabilities, ...rest } = DIALECTS[dialect];
  const whisper = can_whisper ?? capabilities.whisper;
  return { ...rest, capabilities: { ...capabilities, whisper } };
}

/** For people: what an installation has to do without. */
const CONSEQUENCES: Record<keyof Capabilities, string> = {
  whisper: 'asks no buyer to press 1 (`key_press_unavailable`)',
  tones: 'plays no tones to buyers (`tones_unavailable`)',
  leg_callbacks:
    'reports no legs: one buyer rings at a time, and the end of the dial says who had it',
  cancel_leg: 'stops no single leg: buyers that ring at once ring as long as the longest',
  record_dial: 'records no calls',
  record_leg: 'records no single leg: of buyers that ring at once all are recorded, or none',
  voicemail: 'takes no voicemail: the caller hears the message of the offer, and the call ends',
  conference: 'plays no keys in a call: send_key_press is refused',
  detection: 'detects no answering machines: each call that is answered counts as one by a person',
};

/** One text for each capability that is missing. */
export const listConsequences = (capabilities: Capabilities): string[] =>
  (Object.keys(CONSEQUENCES) as (keyof Capabilities)[])
    .filter((name) => !capabilities[name])
    .map((name) => CONSEQUENCES[name]);
