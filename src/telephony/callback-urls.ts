import { BASE_PATH } from '../contract';
import type { Hooks } from './twiml';

/** A call that a carrier is to ask and tell about. */
export interface Hooked {
  uuid: string;
  /** The round that is being dialed. */
  round: number;
  /** E.164 without the plus. */
  number_called: number | null;
}

/** Our URLs for the carrier to call about a call: what it sends there of a buyer's leg names neither the call nor a number of ours, so the URLs do. */
export function hooksOf(
  public_url: string,
  { uuid, round, number_called }: Hooked,
): Hooks & { key(attempt: string): string } {
  const base = `${public_url.replace(/\/+$/, '')}${BASE_PATH}/telephony`;
  const hook = (name: string, more: Record<string, string> = {}) =>
    `${base}/${name}?${new URLSearchParams({ call: uuid, ...more, number: String(number_called ?? '') }).toString()}`;
  return {
    dial_status: hook('dial_status', { round: String(round) }),
    voicemail: hook('voicemail'),
    attempt_status: (attempt) => hook('attempt_status', { attempt }),
    whisper: (attempt) => hook('whisper', { attempt }),
    key: (attempt) => hook('key', { attempt }),
  };
}
