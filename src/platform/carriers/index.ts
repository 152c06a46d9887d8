import type { Carrier } from './carrier';
import { noCarrier } from './none';
import { sandbox } from './sandbox';
import { softswitch } from './softswitch';
import { twilio, type TwilioOptions } from './twilio';

export type CarrierOptions = Partial<TwilioOptions>;

/** The drivers, by the setting CARRIER. */
const CARRIERS = {
  none: noCarrier,
  sandbox,
  switch: softswitch,
  twilio: openTwilio,
} satisfies Record<string, (options: CarrierOptions) => Carrier>;

export type CarrierSetting = keyof typeof CARRIERS;

/** Throws when an option that the carrier needs is missing. */
export const openCarrier = (name: CarrierSetting, options: CarrierOptions = {}): Carrier =>
  CARRIERS[name](options);

function openTwilio({ account_sid, auth_token, public_url, ...rest }: CarrierOptions): Carrier {
  if (!account_sid || !auth_token || !public_url)
    throw new Error('The carrier twilio needs account_sid, auth_token and public_url.');
  return twilio({ account_sid, auth_token, public_url, ...rest });
}
