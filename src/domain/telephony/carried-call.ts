import { BASE_PATH } from '../../platform/contract/contract';
import { trimUrl } from '../../platform/trim-url';

export interface CarriedCall {
  uuid: string;
  /** E.164 without the plus. */
  number_called: number | null;
}

export const buildTelephonyUrl = (publicUrl: string): string =>
  `${trimUrl(publicUrl)}${BASE_PATH}/telephony`;

/**
 * Builds the URLs, by their name, that a carrier calls about a call. Its requests about a leg to a
 * buyer name neither the call nor a number of the company, so the URLs do.
 */
export const carriedUrls =
  (publicUrl: string, { uuid, number_called }: CarriedCall) =>
  (name: string, more: Record<string, string> = {}): string => {
    const query = new URLSearchParams({
      call: uuid,
      ...more,
      number: String(number_called ?? ''),
    });
    // Not all who read a query take a plus sign for a space.
    return `${buildTelephonyUrl(publicUrl)}/${name}?${query.toString().replaceAll('+', '%20')}`;
  };
