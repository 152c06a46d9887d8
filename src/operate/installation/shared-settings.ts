import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../platform/config';
import { selectDialect } from '../../platform/carriers/dialects';
import type { Sql } from '../../data/sql';
import { digestSecret } from '../../api/auth/credentials';
import { READ_SHARED, SAVE_SETTINGS } from './queries/settings';

// Settings that control background work, outgoing traffic, and counters shared by all processes. If
// they differed, the result would depend on the process that a customer reaches. Settings of a host
// itself (its port, proxy and sizes) may differ.

type Value = string | number | boolean | null;
export type SharedSettings = Record<string, Value>;

/** Compared as digests, which only a process with the pepper can make. */
export const SECRETS = [
  'TWILIO_AUTH_TOKEN',
  'TWILIO_SIGNING_KEY',
  'JAMBONZ_API_KEY',
  'JAMBONZ_WEBHOOK_SECRET',
  'OIDC_CLIENT_SECRET',
];

/** The settings that must be equal in all processes, by variable; secrets as digests. */
export function sharedSettings(config: Config, pepper: string): SharedSettings {
  const { twilio, jambonz } = config;
  const digest = (secret: string | undefined) =>
    secret === undefined ? null : digestSecret(pepper, secret).toString('hex').slice(0, 16);
  return {
    CARRIER: config.carrier,
    ...(config.carrier === 'twilio' && {
      TWILIO_DIALECT: twilio.dialect,
      TWILIO_ACCOUNT_SID: twilio.account_sid ?? null,
      TWILIO_AUTH_TOKEN: digest(twilio.auth_token),
      TWILIO_SIGNING_KEY: digest(twilio.signing_key),
      TWILIO_BASE_URL: twilio.base_url ?? null,
      TWILIO_CAN_WHISPER: selectDialect(twilio).capabilities.whisper,
      TELNYX_APPLICATION_ID: twilio.application_id ?? null,
    }),
    JAMBONZ_BASE_URL: jambonz.base_url ?? null,
    JAMBONZ_ACCOUNT_SID: jambonz.account_sid ?? null,
    JAMBONZ_API_KEY: digest(jambonz.api_key),
    JAMBONZ_APPLICATION_SID: jambonz.application_sid ?? null,
    JAMBONZ_WEBHOOK_SECRET: digest(jambonz.webhook_secret),
    PUBLIC_URL: config.public_url_is_set ? config.public_url : null,
    // Each host may have a server of its own.
    SMTP_URL: config.smtp_url !== undefined,
    MAIL_FROM: config.mail_from,
    MAILS_PER_DAY: config.mails_per_day,
    MAILS_PER_ADDRESS_PER_DAY: config.mails_per_address_per_day,
    RATE_LIMIT_PER_MINUTE: config.rate_limit_per_minute,
    LEAD_RATE_LIMIT_PER_MINUTE: config.lead_rate_limit_per_minute,
    SELLER_RATE_LIMIT_PER_MINUTE: config.seller_rate_limit_per_minute,
    OIDC_ISSUER: config.oidc?.issuer ?? null,
    OIDC_CLIENT_ID: config.oidc?.client_id ?? null,
    OIDC_CLIENT_SECRET: digest(config.oidc?.client_secret),
    OIDC_NAME: config.oidc?.name ?? null,
    SESSION_IDLE_HOURS: config.session_idle_hours,
    SESSION_DAYS: config.session_days,
    WEBHOOK_ALLOW_NETWORKS: config.webhook_allow_networks.toSorted().join(','),
    WEBHOOK_LOG_DAYS: config.webhook_log_days,
    CALL_DAYS: config.call_days,
    LEAD_DAYS: config.lead_days,
    MESSAGE_DAYS: config.message_days,
    CHANGE_LOG_DAYS: config.change_log_days,
  };
}

/** Makes these settings those of the installation, even while other processes run. */
export async function acceptSettings(sql: Sql, settings: SharedSettings): Promise<void> {
  await sql(SAVE_SETTINGS, { settings: JSON.stringify(settings) });
}

export async function readSettings(sql: Sql): Promise<SharedSettings> {
  const [installation] = await sql(READ_SHARED, {});
  return (installation?.settings ?? {}) as SharedSettings;
}

/** Differences, one line per variable. A variable that only one of both has is no difference. */
export function listDifferences(recorded: SharedSettings, ownSettings: SharedSettings): string[] {
  return Object.entries(ownSettings).flatMap(([name, value]) => {
    const recordedValue = recorded[name];
    if (recordedValue === undefined || isDeepStrictEqual(recordedValue, value)) return [];
    if (SECRETS.includes(name)) return `${name} is another one here`;
    const recordedText = formatSetting(name, recordedValue);
    return `${name} is ${formatSetting(name, value)} here, and ${recordedText} there`;
  });
}

function formatSetting(name: string, value: Value): string {
  if (name === 'SMTP_URL') return value ? 'set' : 'not set';
  return value === null || value === '' ? 'not set' : String(value);
}
