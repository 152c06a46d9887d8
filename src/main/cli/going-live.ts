import type { Config } from '../../platform/config';
import { sqlOn, type Sql } from '../../data/sql';
import { HostsClient } from '../../data/postgres/hosts-client';
import { withClient } from '../../data/postgres/with-client';
import { findLastBackup } from '../../operate/backup/last-backup';
import { examineCells } from '../../operate/cells/examine';
import { openDatabaseServer } from '../../operate/installation/open';
import { findSmtpFault } from '../../platform/mail/smtp';
import { describeNodeSupport } from '../../platform/node-support';
import { finding, type Finding } from './finding';
import { GOING_LIVE } from './queries/operator';

// `doctor --live`: that which must be so before real calls come in.

const ANSWER_TIMEOUT_MS = 10_000;
/** Two days: a daily backup that failed once is looked at. */
const MAX_BACKUP_HOURS = 48;

export async function checkGoingLive(config: Config): Promise<Finding[]> {
  const node = describeNodeSupport();
  return [
    finding('live: node', !node, node ?? 'gets fixes', 'Install Node.js 24.'),
    await checkPublicUrl(config),
    await checkMail(config),
    checkMonitoring(config),
    ...(await checkRecords(config).catch((error: Error) => [
      finding('live: records', false, `cannot be read: ${error.message}`),
    ])),
  ];
}

/** The address under which others reach the service, which must be this service. */
async function checkPublicUrl({ public_url, public_url_is_set }: Config): Promise<Finding> {
  const check = 'live: address';
  const remedy =
    'Set PUBLIC_URL to the https address of the proxy, and start the service: docs/install.md, ' +
    '"TLS and proxy".';
  if (!public_url_is_set) return finding(check, false, 'PUBLIC_URL is not set', remedy);
  if (!public_url.startsWith('https://'))
    return finding(check, false, `${public_url} is not https`, remedy);
  const options = { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS), redirect: 'error' } as const;
  const fault = await fetch(`${public_url}/readyz`, options).then(
    ({ ok, status }) => (ok ? undefined : `answers /readyz with ${status}`),
    (error: Error) => `cannot be reached: ${describeCause(error)}`,
  );
  return finding(check, !fault, `${public_url} ${fault ?? 'is reached, and ready'}`, remedy);
}

const describeCause = ({ message, cause }: Error): string =>
  cause instanceof Error ? cause.message || String(cause) : message;

async function checkMail({ smtp_url, mail_from }: Config): Promise<Finding> {
  const check = 'live: mail';
  if (smtp_url === undefined)
    return finding(
      check,
      false,
      'e-mails are stored and not sent',
      'Set SMTP_URL and MAIL_FROM, so that invitations, alerts and links arrive.',
    );
  const fault = await findSmtpFault(smtp_url);
  const text = fault ?? `the server takes mail of ${mail_from}`;
  return finding(check, !fault, text, 'Check SMTP_URL: host, port, user and password.');
}

const checkMonitoring = ({ metrics_token }: Config): Finding =>
  finding(
    'live: monitoring',
    metrics_token !== undefined,
    metrics_token === undefined ? 'there is no /metrics' : '/metrics is there',
    'Set METRICS_TOKEN, and use the rules for alerts: docs/monitor.md, "Alerts".',
  );

interface Records {
  companies: number;
  demos: number;
  live_switches: number;
  without_owner: string[];
}

/** Checks that need the database. */
async function checkRecords(config: Config): Promise<Finding[]> {
  const server = await openDatabaseServer(config, { existing: true });
  try {
    const client = new HostsClient({ connectionString: server.session_url });
    return await withClient(client, async () => {
      const sql = sqlOn(client);
      const all = await loadRecords(sql, config);
      return [
        checkCarrier(config, all),
        await checkBackup(sql),
        checkOwners(all),
        finding(
          'live: demo',
          all.demos === 0,
          all.demos === 0 ? 'no demo company is left' : `${all.demos} demo companies are left`,
          'Run: npx trunkline demo remove (and set DEMO=false)',
        ),
      ];
    });
  } finally {
    await server.stop();
  }
}

/** Adds up the nodes. */
async function loadRecords(sql: Sql, { database_url }: Config): Promise<Records> {
  const all: Records = { companies: 0, demos: 0, live_switches: 0, without_owner: [] };
  const look = async (node: Sql) => {
    const [counts] = await node(GOING_LIVE, {});
    all.companies += counts!.companies;
    all.demos += counts!.demos;
    all.live_switches += counts!.live_switches;
    all.without_owner.push(...counts!.without_owner);
  };
  const { cells } = database_url ? await examineCells(database_url, look) : { cells: 0 };
  if (cells === 0) await look(sql);
  return all;
}

function checkCarrier({ carrier }: Config, { live_switches }: Records): Finding {
  const isThere = ['twilio', 'jambonz'].includes(carrier) || live_switches > 0;
  const live = live_switches === 0 ? '' : `, and ${live_switches} switches are there`;
  return finding(
    'live: telephony',
    isThere,
    isThere ? `the carrier is ${carrier}${live}` : `${carrier}, and no switch: no call can come in`,
    'Set CARRIER with its account (docs/configure.md, "Carriers"), or connect a switch ' +
      '(docs/switches.md).',
  );
}

async function checkBackup(sql: Sql): Promise<Finding> {
  const last = await findLastBackup(sql);
  return finding(
    'live: backup',
    last !== undefined && last.hours <= MAX_BACKUP_HOURS,
    last ? `the last is ${last.hours} hours old` : 'there was none yet',
    'Back up each day with npx trunkline backup' +
      ', or with another tool and then npx trunkline record-backup',
  );
}

function checkOwners({ companies, without_owner }: Records): Finding {
  const check = 'live: owner';
  if (companies === 0)
    return finding(
      check,
      false,
      'there is no company but for the demo',
      'Run: npx trunkline company create --name NAME',
    );
  const areThere = without_owner.length === 0;
  return finding(
    check,
    areThere,
    areThere
      ? 'every company has one'
      : `no person may do everything in ${without_owner.join(', ')}`,
    'Run: npx trunkline owner link --company ID',
  );
}
