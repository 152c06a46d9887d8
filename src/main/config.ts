import { isIP } from 'node:net';
import { join } from 'node:path';
import { bool, cleanEnv, makeValidator, port, str } from 'envalid';
import type { CarrierSetting } from '../platform/carriers';
import type { Config } from '../platform/config';
import { trimUrl } from '../platform/trim-url';
import { DIALECT_NAMES, type DialectName } from '../platform/carriers/dialects/dialect';
import { findJambonzFaults, toJambonzSettings } from '../platform/carriers/jambonz-settings';
import { findTwilioFaults, toTwilioSettings } from '../platform/carriers/twilio-settings';
import { parseHostList } from '../data/postgres/host-list';
import { namesDatabase } from '../data/postgres/session-settings';
import { MAIL_VARIABLES, readMailSettings } from '../platform/mail/settings';
import { StartError } from '../platform/start-error';
import { S3_VARIABLES, findS3Faults, readS3Settings } from '../platform/storage/s3-settings';

/** Every process of Trunkline runs in UTC; zones are always named. */
process.env.TZ = 'UTC';
/**
 * The AWS SDK prints its Node.js version warning at each import; package.json states the versions.
 */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The environment of a program that is started here, with these variables in addition. */
export const extendEnvironment = (variables: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...variables,
});

/** An unusable environment; `faults` names every wrong variable and what is allowed. */
export class ConfigError extends StartError {
  constructor(readonly faults: string[]) {
    super(`The configuration cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

const databaseUrl = makeValidator<string>((input) => {
  parseHostList(input);
  return input;
});
const hostName = makeValidator<string>((input) => {
  if (isIP(input) === 0 && !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9-]+)*$/i.test(input))
    throw new Error('must be an IP address or a host name of this machine, such as 127.0.0.1');
  return input;
});
const origins = makeValidator<string[]>((input) => {
  const list = input.split(',').map((origin) => origin.trim());
  const wrong = list.find((origin) => origin !== '*' && !/^https?:\/\/[^/]+$/.test(origin));
  if (wrong !== undefined)
    throw new Error(
      `must be origins such as https://app.example.com, separated by commas, not "${wrong}"`,
    );
  return list;
});
const metricsToken = makeValidator<string>((input) => {
  if (!/^[\x21-\x7e]{16,200}$/.test(input))
    throw new Error('must be 16 to 200 visible ASCII characters');
  return input;
});
const pepper = makeValidator<string>((input) => {
  if (input.length < 32) throw new Error('must be at least 32 characters long');
  return input;
});
const webUrl = makeValidator<string>((input) => {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash)
    throw new Error('must be a URL such as https://api.example.com');
  return trimUrl(input);
});
/** Without TLS only on this machine: elsewhere anyone could answer for the provider. */
const issuer = makeValidator<string>((input) => {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (!url || url.search || url.hash || !isSafe)
    throw new Error('must be a URL such as https://accounts.example.com');
  return input;
});
const networks = makeValidator<string[]>((input) => {
  const list = input.split(',').map((network) => network.trim());
  const wrong = list.find(
    (network) => !/^[0-9a-f.:]+\/\d{1,3}$/i.test(network) || isIP(network.split('/')[0]!) === 0,
  );
  if (wrong !== undefined)
    throw new Error(`must be networks such as 10.0.0.0/8, separated by commas, not "${wrong}"`);
  return list;
});
const between = (low: number, high: number) =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (!Number.isInteger(value) || value < low || value > high)
      throw new Error(`must be a whole number from ${low} to ${high}`);
    return value;
  });

const ratio = makeValidator<number>((input) => {
  const value = Number(input);
  if (!(value >= 0 && value <= 1)) throw new Error('must be a number from 0 to 1');
  return value;
});

const VARIABLES = {
  PORT: port({ default: 3000 }),
  HOST: hostName({ default: '127.0.0.1' }),
  WEB_CONCURRENCY: between(1, 64)({ default: 1 }),
  DATABASE_URL: databaseUrl({ default: undefined }),
  DATABASE_DIRECT_URL: databaseUrl({ default: undefined }),
  DATABASE_READ_URL: databaseUrl({ default: undefined }),
  DATA_DIR: str({ default: '.data' }),
  LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
  METRICS_TOKEN: metricsToken({ default: undefined }),
  WORKER_METRICS_PORT: port({ default: undefined }),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl({ default: undefined }),
  OTEL_TRACES_SAMPLER_ARG: ratio({ default: 1 }),
  CORS_ORIGINS: origins({ default: [] }),
  KEY_PEPPER: pepper({ default: undefined }),
  RATE_LIMIT_PER_MINUTE: between(0, 1_000_000_000)({ default: 60_000 }),
  LEAD_RATE_LIMIT_PER_MINUTE: between(0, 1_000_000_000)({ default: 12_000 }),
  SELLER_RATE_LIMIT_PER_MINUTE: between(0, 1_000_000_000)({ default: 6_000 }),
  DATABASE_POOL_SIZE: between(1, 500)({ default: 16 }),
  DATABASE_TIMEOUT_SECONDS: between(1, 600)({ default: 10 }),
  TRUST_PROXY: between(0, 10)({ default: 0 }),
  MAX_CONNECTIONS: between(10, 1_000_000)({ default: 4_000 }),
  MAX_BODY_BYTES: between(1_024, 104_857_600)({ default: 1_048_576 }),
  MAX_UPLOAD_BYTES: between(1_024, 1_099_511_627_776)({ default: 1_073_741_824 }),
  STORAGE_DIR: str({ default: undefined }),
  STORAGE_RESERVE_BYTES: between(0, 1_099_511_627_776)({ default: 268_435_456 }),
  ...S3_VARIABLES,
  DEMO: bool({ default: true }),
  RUN_JOBS: bool({ default: true }),
  CARRIER: str<CarrierSetting>({
    choices: ['sandbox', 'twilio', 'jambonz', 'switch', 'none'],
    default: 'sandbox',
  }),
  TWILIO_DIALECT: str<DialectName>({ choices: DIALECT_NAMES, default: 'twilio' }),
  TWILIO_ACCOUNT_SID: str({ default: undefined }),
  TWILIO_AUTH_TOKEN: str({ default: undefined }),
  TWILIO_SIGNING_KEY: str({ default: undefined }),
  TWILIO_BASE_URL: webUrl({ default: undefined }),
  TWILIO_CAN_WHISPER: bool({ default: undefined }),
  TELNYX_APPLICATION_ID: str({ default: undefined }),
  JAMBONZ_BASE_URL: webUrl({ default: undefined }),
  JAMBONZ_ACCOUNT_SID: str({ default: undefined }),
  JAMBONZ_API_KEY: str({ default: undefined }),
  JAMBONZ_APPLICATION_SID: str({ default: undefined }),
  JAMBONZ_WEBHOOK_SECRET: str({ default: undefined }),
  PUBLIC_URL: webUrl({ default: undefined }),
  ...MAIL_VARIABLES,
  OIDC_ISSUER: issuer({ default: undefined }),
  OIDC_CLIENT_ID: str({ default: undefined }),
  OIDC_CLIENT_SECRET: str({ default: undefined }),
  OIDC_NAME: str({ default: undefined }),
  SESSION_IDLE_HOURS: between(1, 720)({ default: 12 }),
  SESSION_DAYS: between(1, 365)({ default: 14 }),
  WEBHOOK_ALLOW_NETWORKS: networks({ default: [] }),
  WEBHOOK_LOG_DAYS: between(1, 36_500)({ default: 30 }),
  CALL_DAYS: between(0, 36_500)({ default: 0 }),
  LEAD_DAYS: between(0, 36_500)({ default: 0 }),
  MESSAGE_DAYS: between(0, 36_500)({ default: 0 }),
  CHANGE_LOG_DAYS: between(0, 36_500)({ default: 0 }),
};

/** Reads the environment; the only place that does. Throws ConfigError with every fault at once. */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const values = cleanEnv(set, VARIABLES, {
    reporter: ({ errors }) => {
      const wrong = Object.entries(errors).map(([name, error]) => `${name} ${reason(error)}`);
      const faults = [...wrong, ...missing(set)];
      if (faults.length > 0) throw new ConfigError(faults);
    },
  });
  return Object.freeze({
    port: values.PORT,
    host: values.HOST,
    web_concurrency: values.WEB_CONCURRENCY,
    database_url: values.DATABASE_URL,
    database_direct_url: values.DATABASE_DIRECT_URL,
    database_read_url: values.DATABASE_READ_URL,
    data_dir: values.DATA_DIR,
    log_level: values.LOG_LEVEL,
    traces: { endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: values.OTEL_TRACES_SAMPLER_ARG },
    metrics_token: values.METRICS_TOKEN,
    worker_metrics_port: values.WORKER_METRICS_PORT,
    rate_limit_per_minute: values.RATE_LIMIT_PER_MINUTE,
    lead_rate_limit_per_minute: values.LEAD_RATE_LIMIT_PER_MINUTE,
    seller_rate_limit_per_minute: values.SELLER_RATE_LIMIT_PER_MINUTE,
    cors_origins: values.CORS_ORIGINS,
    key_pepper: values.KEY_PEPPER,
    pool_size: values.DATABASE_POOL_SIZE,
    database_timeout_seconds: values.DATABASE_TIMEOUT_SECONDS,
    trust_proxy: values.TRUST_PROXY,
    max_connections: values.MAX_CONNECTIONS,
    max_body_bytes: values.MAX_BODY_BYTES,
    max_upload_bytes: values.MAX_UPLOAD_BYTES,
    storage_dir: values.STORAGE_DIR ?? join(values.DATA_DIR, 'storage'),
    storage_reserve_bytes: values.STORAGE_RESERVE_BYTES,
    s3: readS3Settings(values),
    demo: values.DEMO,
    run_jobs: values.RUN_JOBS,
    carrier: values.CARRIER,
    twilio: toTwilioSettings(values),
    jambonz: toJambonzSettings(values),
    public_url: values.PUBLIC_URL ?? `http://localhost:${values.PORT}`,
    public_url_is_set: values.PUBLIC_URL !== undefined,
    ...readMailSettings(values),
    oidc: toOidcSettings(values),
    session_idle_hours: values.SESSION_IDLE_HOURS,
    session_days: values.SESSION_DAYS,
    webhook_allow_networks: values.WEBHOOK_ALLOW_NETWORKS,
    ...daysKept(values),
  });
}

type DaysVariable = `${'WEBHOOK_LOG' | 'CALL' | 'LEAD' | 'MESSAGE' | 'CHANGE_LOG'}_DAYS`;

const daysKept = (values: Record<DaysVariable, number>) => ({
  webhook_log_days: values.WEBHOOK_LOG_DAYS,
  call_days: values.CALL_DAYS,
  lead_days: values.LEAD_DAYS,
  message_days: values.MESSAGE_DAYS,
  change_log_days: values.CHANGE_LOG_DAYS,
});

const missing = (set: NodeJS.ProcessEnv): string[] => [
  ...findTwilioFaults(set),
  ...findJambonzFaults(set),
  ...missingForPooler(set),
  ...missingForOidc(set),
  ...findS3Faults(set),
];

const missingForOidc = ({ OIDC_ISSUER, OIDC_CLIENT_ID }: NodeJS.ProcessEnv): string[] =>
  OIDC_ISSUER !== undefined && OIDC_CLIENT_ID === undefined
    ? ['OIDC_CLIENT_ID must be given with OIDC_ISSUER: the name of this service there']
    : [];

interface OidcVariables {
  OIDC_ISSUER: string | undefined;
  OIDC_CLIENT_ID: string | undefined;
  OIDC_CLIENT_SECRET: string | undefined;
  OIDC_NAME: string | undefined;
}

const toOidcSettings = (values: OidcVariables): Config['oidc'] =>
  values.OIDC_ISSUER === undefined || values.OIDC_CLIENT_ID === undefined
    ? undefined
    : {
        issuer: values.OIDC_ISSUER,
        client_id: values.OIDC_CLIENT_ID,
        client_secret: values.OIDC_CLIENT_SECRET,
        name: values.OIDC_NAME ?? new URL(values.OIDC_ISSUER).hostname,
      };

function missingForPooler({ DATABASE_URL, DATABASE_DIRECT_URL }: NodeJS.ProcessEnv): string[] {
  if (DATABASE_DIRECT_URL === undefined) return [];
  if (DATABASE_URL === undefined)
    return ['DATABASE_URL must be given with DATABASE_DIRECT_URL: the URL of the pooler'];
  return namesDatabase(DATABASE_URL)
    ? []
    : ['DATABASE_URL must end with the name of its database, with DATABASE_DIRECT_URL'];
}

function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.startsWith('must') ? text : `is not usable: ${text}`;
}
