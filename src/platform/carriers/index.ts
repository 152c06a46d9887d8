import type { Carrier, CarrierName } from './carrier';
import { noCarrier } from './none';
import { sandbox } from './sandbox';
import { twilio, type TwilioOptions } from './twilio';

export type CarrierOptions = Partial<TwilioOptions>;

const CARRIERS = { none: noCarrier, sandbox, twilio: openTwilio } satisfies Record<
  CarrierName,
  (options: CarrierOptions) => Carrier
>;

/** Throws when an option that the carrier needs is missing. */
export const openCarrier = (name: CarrierName, options: CarrierOptions = {}): Carrier =>
  CARRIERS[name](options);

function openTwilio({ account_sid, auth_token, public_url, ...rest }: CarrierOptions): Carrier {
  if (!account_sid || !auth_token || !public_url)
    throw new Error('The carrier twilio needs account_sid, auth_token and public_url.');
  return twilio({ account_sid, auth_token, public_url, ...rest });
}
