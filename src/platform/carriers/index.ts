import type { Carrier } from './carrier';
import { jambonz, type JambonzOptions } from './jambonz';
import { noCarrier } from './none';
import { sandbox } from './sandbox';
import { softswitch } from './softswitch';
import { twilio, type TwilioOptions } from './twilio';

/** The settings of each driver that has some. */
export interface CarrierOptions extends Partial<TwilioOptions> {
  jambonz?: Partial<JambonzOptions> | undefined;
}

/** The drivers, by the setting CARRIER. */
const CARRIERS = {
  none: noCarrier,
  sandbox,
  switch: softswitch,
  jambonz: openJambonz,
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

function openJambonz({ public_url, timeout_ms, jambonz: settings = {} }: CarrierOptions): Carrier {
  const { base_url, account_sid, api_key, application_sid } = settings;
  if (!base_url || !account_sid || !api_key || !application_sid || !public_url)
    throw new Error(
      'The carrier jambonz needs base_url, account_sid, api_key, application_sid and public_url.',
    );
  const account = { base_url, account_sid, api_key, application_sid, public_url };
  return jambonz({ ...account, ...(timeout_ms !== undefined && { timeout_ms }) });
}
