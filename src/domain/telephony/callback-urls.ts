import { BASE_PATH } from '../../platform/contract/contract';
import type { CallbackUrls } from './twiml';

export interface CarriedCall {
  uuid: string;
  round: number;
  /** E.164 without the plus. */
  number_called: number | null;
}

const buildBase = (publicUrl: string): string =>
  `${publicUrl.replace(/(?<!\/)\/+$/, '')}${BASE_PATH}/telephony`;

/** The carrier reports there about a text message; `key` is the uuid of the message. */
export const messageStatusUrl = (publicUrl: string, key: string): string =>
  `${buildBase(publicUrl)}/message_status?${new URLSearchParams({ key }).toString()}`;

/**
 * URLs that a carrier calls about a call. Its requests about a leg to a buyer name neither the call
 * nor a number of the company, so the URLs do.
 */
export function buildCallbackUrls(
  publicUrl: string,
  { uuid, round, number_called }: CarriedCall,
): CallbackUrls & { key(attempt: string): string; conference_status(n: number): string } {
  const base = buildBase(publicUrl);
  const url = (name: string, more: Record<string, string> = {}) => {
    const query = new URLSearchParams({
      call: uuid,
      ...more,
      number: String(number_called ?? ''),
    });
    return `${base}/${name}?${query.toString()}`;
  };
  return {
    dial_status: url('dial_status', { round: String(round) }),
    conference_status: (n) => url('dial_status', { round: String(round), conference: String(n) }),
    voicemail: url('voicemail'),
    attempt_status: (attempt) => url('attempt_status', { attempt }),
    whisper: (attempt) => url('whisper', { attempt }),
    key: (attempt) => url('key', { attempt }),
  };
}
