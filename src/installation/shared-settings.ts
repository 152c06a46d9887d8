import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config';
import type { Sql } from '../db/sql';
import { digestOf } from '../http/auth/credentials';
import { READ_SHARED, SAVE_SETTINGS } from './queries/settings';

// Settings that decide what background work does, what leaves the service, and what is counted by
// all processes together. Were they to differ, it would be chance which of them a customer gets.
// What a host decides for itself (its port, its proxy, its sizes) may differ.

type Value = string | number | boolean | null;
export type SharedSettings = Record<string, Value>;

/** The settings that must be equal in all processes, by variable; of secrets, a digest. */
export function sharedSettings(config: Config, pepper: string): SharedSettings {
  const { twilio } = config;
  const digest = (secret: string | undefined) =>
    secret === undefined ? null : digestOf(pepper, secret).toString('hex').slice(0, 16);
  return {
    CARRIER: config.carrier,
    ...(config.carrier === 'twilio' && {
      TWILIO_ACCOUNT_SID: twilio.account_sid ?? null,
      TWILIO_AUTH_TOKEN: digest(twilio.auth_token),
      TWILIO_BASE_URL: twilio.base_url,
      TWILIO_CAN_WHISPER: twilio.can_whisper,
    }),
    PUBLIC_URL: config.public_url_is_set ? config.public_url : null,
    // Each host may have a server of its own.
    SMTP_URL: config.smtp_url !== undefined,
    MAIL_FROM: config.mail_from,
    MAILS_PER_DAY: config.mails_per_day,
    MAILS_PER_ADDRESS_PER_DAY: config.mails_per_address_per_day,
    RATE_LIMIT_PER_MINUTE: config.rate_limit_per_minute,
    LEAD_RATE_LIMIT_PER_MINUTE: config.lead_rate_limit_per_minute,
    SELLER_RATE_LIMIT_PER_MINUTE: config.seller_rate_limit_per_minute,
    WEBHOOK_ALLOW_NETWORKS: config.webhook_allow_networks.toSorted().join(','),
    WEBHOOK_LOG_DAYS: config.webhook_log_days,
    CALL_DAYS: config.call_days,
    LEAD_DAYS: config.lead_days,
    MESSAGE_DAYS: config.message_days,
    CHANGE_LOG_DAYS: config.change_log_days,
  };
}

/** Makes these settings those of the installation, whoever runs. */
export async function acceptSettings(sql: Sql, settings: SharedSettings): Promise<void> {
  await sql(SAVE_SETTINGS, { settings: JSON.stringify(settings) });
}

export async function readSettings(sql: Sql): Promise<SharedSettings> {
  const [found] = await sql(READ_SHARED, {});
  return (found?.settings ?? {}) as SharedSettings;
}

/** What is different, in a line for each variable; one that only one of both knows is not. */
export function differencesOf(recorded: SharedSettings, own: SharedSettings): string[] {
  return Object.entries(own).flatMap(([name, value]) => {
    const other = recorded[name];
    if (other === undefined || isDeepStrictEqual(other, value)) return [];
    if (name === 'TWILIO_AUTH_TOKEN') return `${name} is another one here`;
    return `${name} is ${shown(name, value)} here, and ${shown(name, other)} there`;
  });
}

function shown(name: string, value: Value): string {
  if (name === 'SMTP_URL') return value ? 'set' : 'not set';
  return value === null || value === '' ? 'not set' : String(value);
}
