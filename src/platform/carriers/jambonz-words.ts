import type { AnsweredBy, CallStatus } from './carrier';

// https://docs.jambonz.org: what jambonz says of a call, and the data that it was given with it.

const CALL: Record<string, CallStatus> = {
  queued: 'queued',
  trying: 'queued',
  ringing: 'ringing',
  'early-media': 'ringing',
  'in-progress': 'in_progress',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'failed',
};

export const toCallStatus = (status = ''): CallStatus | undefined =>
  Object.hasOwn(CALL, status) ? CALL[status] : undefined;

export type Detection = 'at_once' | 'for_message';

/** Events of the detection that decide, whatever it is for; others follow or precede them. */
const DECIDED: Record<string, AnsweredBy> = {
  amd_human_detected: 'human',
  amd_no_speech_detected: 'unknown',
  amd_decision_timeout: 'unknown',
};
const OF_MACHINE: Record<Detection, string> = {
  at_once: 'amd_machine_detected',
  for_message: 'amd_machine_stopped_speaking',
};

/** Undefined for an event that decides nothing. */
export function toAnsweredBy(event: string, detection: Detection): AnsweredBy | undefined {
  if (event === OF_MACHINE[detection]) return 'machine';
  return Object.hasOwn(DECIDED, event) ? DECIDED[event] : undefined;
}

/** True for a machine that is still to end its greeting. */
export const isMachineSpeaking = (event: string, detection: Detection): boolean =>
  event === 'amd_machine_detected' && detection === 'for_message';

/**
 * Data that a call is ordered with, or a buyer dialed with: jambonz repeats it, as `customerData`,
 * in each report. `number` is a number of the company, which decides whose the report is.
 */
export interface Tag {
  number: string;
  /** The uuid of a call that we placed. */
  key?: string;
  /** How machines are to be detected, until that is known. */
  detect?: Detection;
  answered_by?: 'machine';
  /** The uuid of the call that buyers are dialed for. */
  call?: string;
  /** uuids of attempts, by what is dialed. */
  legs?: Record<string, string>;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const readUuid = (value: unknown): string | undefined =>
  typeof value === 'string' && UUID.test(value) ? value : undefined;

/** A tag as a report has it: of anything else, which others may have given a call, nothing. */
export function readTag(value: unknown): Partial<Omit<Tag, 'legs'>> {
  if (typeof value !== 'object' || value === null) return {};
  const { number, key, detect, answered_by, call } = value as Record<string, unknown>;
  const [keyUuid, callUuid] = [readUuid(key), readUuid(call)];
  return {
    ...(typeof number === 'string' && /^\d{6,15}$/.test(number) && { number }),
    ...(keyUuid && { key: keyUuid }),
    ...(callUuid && { call: callUuid }),
    ...((detect === 'at_once' || detect === 'for_message') && { detect }),
    ...(answered_by === 'machine' && { answered_by }),
  };
}

/** The attempt of the leg to this address. */
export function readLegOfTag(value: unknown, address: string | undefined): string | undefined {
  const legs = typeof value === 'object' && value !== null && 'legs' in value ? value.legs : null;
  if (typeof legs !== 'object' || legs === null || address === undefined) return undefined;
  return Object.hasOwn(legs, address)
    ? readUuid((legs as Record<string, unknown>)[address])
    : undefined;
}
