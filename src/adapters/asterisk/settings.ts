import { listHeaders, type DialSettings } from '../service/dialing';
import type { ServiceSettings } from '../service/service';
import type { SpeechSettings } from '../service/speech';

export interface AsteriskSettings extends DialSettings, SpeechSettings {
  service: ServiceSettings;
  /** Headers of the caller's INVITE that are passed on. */
  headers: string[];
}

/** Variables of a channel that add headers to its INVITE. */
export const buildHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    listHeaders(headers).map(([name, value]) => [`PJSIP_HEADER(add,${name})`, value]),
  );
