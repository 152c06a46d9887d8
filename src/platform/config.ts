import type { CarrierSetting } from './carriers';
import type { JambonzSettings } from './carriers/jambonz-settings';
import type { TwilioSettings } from './carriers/twilio-settings';
import type { MailSettings } from './mail/settings';
import type { S3Settings } from './storage/s3-settings';

/** A provider of OpenID Connect, and this service as its client. */
export interface OidcSettings {
  issuer: string;
  client_id: string;
  /** Absent for a public client. */
  client_secret: string | undefined;
  /** Shown to people. */
  name: string;
}

/** The settings of a process. Docstrings say what the variable of the same name does. */
export interface Config extends MailSettings {
  port: number;
  host: string;
  /** How many processes answer requests; with more than one, another one runs the jobs. */
  web_concurrency: number;
  /** PostgreSQL to use; absent: the server runs its own. */
  database_url: string | undefined;
  /** PostgreSQL itself, where database_url is that of a pooler such as PgBouncer. */
  database_direct_url: string | undefined;
  /** A standby that requests with `stale_ok` read from; absent: they read from the primary. */
  database_read_url: string | undefined;
  /** Folder of the server's own files: its database and its key pepper. */
  data_dir: string;
  log_level: string;
  /** Receiver of traces (OTLP over HTTP; absent: nothing is traced), and the part that is sent. */
  traces: { endpoint: string | undefined; ratio: number };
  /** Bearer token of /metrics; absent: there is no such page. */
  metrics_token: string | undefined;
  /** Where a worker serves /livez, /readyz and /metrics; absent: it listens nowhere. */
  worker_metrics_port: number | undefined;
  /**
   * Per minute: requests of a credential, submissions by a lead token, and requests of an address
   * to an endpoint of sellers; 0 for no limit.
   */
  rate_limit_per_minute: number;
  lead_rate_limit_per_minute: number;
  seller_rate_limit_per_minute: number;
  /** Origins whose browsers may call the API; lead endpoints allow any. */
  cors_origins: string[];
  /** Secret key of the digests of credentials; absent: made once and kept in data_dir. */
  key_pepper: string | undefined;
  pool_size: number;
  /** How long a statement may take before the request is answered 503. */
  database_timeout_seconds: number;
  /** How many proxies add themselves to X-Forwarded-For; the caller's address is before them. */
  trust_proxy: number;
  /** Connections of clients at a time; one address has at most half of them. */
  max_connections: number;
  max_body_bytes: number;
  max_upload_bytes: number;
  /** Folder of uploaded files; processes that share a database share it, or the bucket. */
  storage_dir: string;
  /** Bucket of uploaded files; absent: they are in storage_dir. */
  s3: S3Settings | undefined;
  /** Uploads are refused when less than this would remain free on its disk. */
  storage_reserve_bytes: number;
  /** The first start creates a demo company. */
  demo: boolean;
  /** The server runs background jobs too; otherwise they are left to `npm run worker`. */
  run_jobs: boolean;
  carrier: CarrierSetting;
  twilio: TwilioSettings;
  jambonz: JambonzSettings;
  /** The URL of this service from outside, without a path. */
  public_url: string;
  /** False where PUBLIC_URL is not set: `public_url` is then that of this machine. */
  public_url_is_set: boolean;
  /** Networks, as CIDR, that webhooks may reach although they are not public. */
  webhook_allow_networks: string[];
  /** The provider by which people sign in; absent: there is none. */
  oidc: OidcSettings | undefined;
  /** When a session of the console ends: without use, and at the latest. */
  session_idle_hours: number;
  session_days: number;
  /** How long deliveries to webhooks are kept, with their logs. */
  webhook_log_days: number;
  /** How many days records are kept after they ended or were created; 0 for ever. */
  call_days: number;
  lead_days: number;
  message_days: number;
  change_log_days: number;
}
