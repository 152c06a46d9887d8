import { existsSync, statfsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Client } from 'pg';
import { listFaults } from '../background/list-faults';
import { examineCells } from '../../operate/cells/examine';
import { ConfigError, loadConfig } from '../config';
import { JAMBONZ_CAPABILITIES, JAMBONZ_REFUSALS } from '../../platform/carriers/jambonz';
import { listConsequences, selectDialect } from '../../platform/carriers/dialects';
import { type Config } from '../../platform/config';
import { findClockFault } from '../../data/postgres/clock-skew';
import { HostsClient } from '../../data/postgres/hosts-client';
import { OtherVersion, pendingMigrations } from '../../data/postgres/migrate';
import { sqlOn, type Sql } from '../../data/sql';
import { checkAddress } from '../../operate/installation/listen';
import { openConfiguredStorage, storageSettings } from '../../operate/installation/deps';
import {
  openDatabaseServer,
  sessionFault,
  describeConfiguredStorage,
  type DatabaseServer,
} from '../../operate/installation/open';
import { pepperMatches, WrongPepper } from '../../operate/installation/pepper';
import {
  listDifferences,
  readSettings,
  SECRETS,
  sharedSettings,
} from '../../operate/installation/shared-settings';
import { loadRecordedMark, storageFault } from '../../operate/installation/storage-mark';
import { listCallersWithoutSwitch } from '../../domain/switches/originate';
import { countRefusedMails } from '../../domain/people/mail-counts';
import { describeNodeSupport } from '../../platform/node-support';
import { folderFault, StartError } from '../../platform/start-error';
import { describeStorage, openStorage } from '../../platform/storage/open';
import { finding, type Finding } from './finding';
import { checkGoingLive } from './going-live';
import { SERVER_VERSION, UNFINISHED_PURCHASES } from './queries/operator';

const MIN_FREE_GB = 1;
/** PostgreSQL 15. */
const MIN_VERSION = 150_000;
const CONNECT_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * Checks everything that an installation needs, without changing anything; with `live`, also that
 * which must be so before real calls come in.
 */
export async function examine({ live = false } = {}): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) =>
      finding('configuration', false, fault, 'Set it as .env.example explains.'),
    );
  }
  return [
    finding('configuration', true, 'every variable is usable'),
    finding('node', true, describeNodeSupport() ?? `Node.js ${process.versions.node}`),
    carrier(config),
    disk(config),
    await storage(config),
    await ports(config),
    ...(await databases(config)),
    ...(live ? await checkGoingLive(config) : []),
  ];
}

/** A carrier that cannot do everything is no fault, but someone may miss it. */
function carrier({ carrier: name, twilio, jambonz }: Config): Finding {
  if (name === 'sandbox') return finding('carrier', true, 'the sandbox, which sends nothing');
  if (name === 'none') return finding('carrier', true, 'none: no calls or texts go out from here');
  if (name === 'switch')
    return finding('carrier', true, 'switches of the companies place calls; no texts go out');
  const { label, capabilities, refusals, base_url } =
    name === 'jambonz'
      ? {
          label: 'jambonz',
          capabilities: JAMBONZ_CAPABILITIES,
          refusals: JAMBONZ_REFUSALS,
          ...jambonz,
        }
      : { ...selectDialect(twilio), base_url: twilio.base_url };
  const limits = [...listConsequences(capabilities), ...Object.values(refusals)];
  const text = limits.length === 0 ? 'can do everything' : limits.join('; ');
  return finding('carrier', true, `${label} at ${base_url}: ${text}`);
}

function disk({ data_dir }: Config): Finding {
  let folder = resolve(data_dir);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const freeGb = (bavail * bsize) / 1e9;
  return finding(
    'disk',
    freeGb > MIN_FREE_GB,
    `${freeGb.toFixed(1)} GB free for ${data_dir}`,
    'Free some space, or set DATA_DIR to a larger disk.',
  );
}

async function ports({ port, host }: Config): Promise<Finding> {
  const address = `${host}:${port}`;
  const fault = await checkAddress({ port, host }).catch((error: unknown) => error as Error);
  if (!fault) return finding('port', true, `${address} is free`);
  const answerTo = (path: string) =>
    fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }).then(
      ({ ok, status }) => ({ ok, status: String(status) }),
      () => ({ ok: false, status: 'no answer' }),
    );
  if (!(await answerTo('/livez')).ok) return finding('port', false, fault.message);
  const { ok, status } = await answerTo('/readyz');
  return finding(
    'port',
    ok,
    ok
      ? `${address} is served, and ready`
      : `${address} is served, but its server cannot write to its database (/readyz: ${status})`,
    'See the log of the server.',
  );
}

async function databases(config: Config): Promise<Finding[]> {
  let server: DatabaseServer | undefined;
  let client: Client | undefined;
  try {
    server = await openDatabaseServer(config, { existing: true });
    client = new HostsClient({
      connectionString: server.session_url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    await client.connect();
    return [...(await examineDatabase(client, config)), ...(await pooler(server, config))];
  } catch (error) {
    const fault = sessionFault(config, error) as Error;
    const check = fault instanceof OtherVersion ? 'migrations' : 'database';
    // A known fault names its remedy itself.
    const remedy = fault instanceof StartError ? undefined : pickRemedy(config);
    return [finding(check, false, fault.message, remedy)];
  } finally {
    await client?.end().catch(() => undefined);
    await server?.stop();
  }
}

/** Checks a pooler in front of PostgreSQL, on a database that is up to date. */
async function pooler(server: DatabaseServer, config: Config): Promise<Finding[]> {
  if (!config.database_url) return [];
  const text = 'DATABASE_URL is a pooler whose sessions are set as they must be';
  try {
    await server.prepare();
    return config.database_direct_url ? [finding('pooler', true, text)] : [];
  } catch (error) {
    if (error instanceof OtherVersion || !(error instanceof StartError)) return [];
    return [finding('pooler', false, error.message)];
  }
}

const pickRemedy = ({ database_url, data_dir }: Config) =>
  database_url
    ? 'Check DATABASE_URL: host, port, user, password, and that PostgreSQL is up.'
    : `See ${join(resolve(data_dir), 'postgres/postgres.log')}, if it is there.`;

async function examineDatabase(client: Client, config: Config): Promise<Finding[]> {
  const sql = sqlOn(client);
  const [server] = await sql(SERVER_VERSION, {});
  const { version, name, extensions } = server!;
  const pending = await pendingMigrations(client);
  const isMigrated = pending.length === 0;
  const runBy = config.database_url ? '' : ', run by Trunkline';
  return [
    finding(
      'database',
      version >= MIN_VERSION,
      `PostgreSQL ${name}${runBy}`,
      'Use PostgreSQL 15 or later.',
    ),
    await clock(sql),
    finding(
      'extensions',
      extensions === 2,
      'pg_trgm and btree_gin',
      "Install PostgreSQL's contrib package on the database server.",
    ),
    finding(
      'migrations',
      isMigrated,
      isMigrated ? 'all applied' : `pending: ${pending.join(', ')}`,
      'Run: npx trunkline migrate (a start does it too)',
    ),
    ...(isMigrated ? await examineInUse(sql, config) : []),
  ];
}

async function clock(sql: Sql): Promise<Finding> {
  const fault = await findClockFault(sql);
  return finding('clock', !fault, fault ?? "that of this machine agrees with the database's");
}

/** Checks that need a database that is up to date. */
async function examineInUse(sql: Sql, config: Config): Promise<Finding[]> {
  return [
    await pepper(sql, config),
    await settings(sql, config),
    ...(await sharedStorage(sql, config)),
    ...(await cellsAndPurchases(sql, config)),
  ];
}

async function cellsAndPurchases(sql: Sql, config: Config): Promise<Finding[]> {
  const now = new Date();
  const numbers: string[] = [];
  const failing: string[] = [];
  const refused: Awaited<ReturnType<typeof countRefusedMails>>[] = [];
  const callers: string[] = [];
  const look = async (node: Sql) => {
    numbers.push(...(await listInterruptedPurchases(node)));
    failing.push(...(await listFaults(node)));
    refused.push(await countRefusedMails(node, now));
    if (config.carrier === 'switch') callers.push(...(await listCallersWithoutSwitch(node, now)));
  };
  await look(sql);
  const { cells, faults } = config.database_url
    ? await examineCells(config.database_url, look)
    : { cells: 0, faults: [] };
  const cellFindings = cells === 0 ? [] : [finding('cells', true, `${cells}, all in use`)];
  return [
    ...(faults.length === 0 ? cellFindings : faults.map((fault) => finding('cells', false, fault))),
    reportPurchases(numbers),
    background(failing),
    mails(refused),
    ...(config.carrier === 'switch' ? [switches(callers)] : []),
  ];
}

/** Companies whose schedules call, and whose switches are away. */
const switches = (callers: readonly string[]): Finding =>
  finding(
    'switches',
    callers.length === 0,
    callers.length === 0
      ? 'there for every company whose schedules call'
      : `none has been there for three minutes, although schedules call: ${callers.join(', ')}`,
    'A switch must send a sync once a minute, or ask for commands: docs/switches.md.',
  );

/** Mails of today beyond the quotas: no fault, but someone may miss them. */
function mails(refused: readonly { mails: number; companies: number }[]): Finding {
  const sum = (name: 'mails' | 'companies') => refused.reduce((all, count) => all + count[name], 0);
  const text = `${sum('mails')} of today were over the quotas, of ${sum('companies')} companies`;
  return finding('mails', true, sum('mails') === 0 ? 'none of today was over a quota' : text);
}

/** Faults that background work has reported. */
const background = (faults: readonly string[]): Finding =>
  faults.length === 0
    ? finding('background', true, 'nothing has failed')
    : finding(
        'background',
        false,
        faults.join('; '),
        'See the log of the process that runs the jobs; GET /alert_rules has last_error of rules.',
      );

/** Only processes with the pepper can compare a secret. */
async function settings(sql: Sql, config: Config): Promise<Finding> {
  const localSettings = Object.fromEntries(
    Object.entries(sharedSettings(config, '')).filter(([name]) => !SECRETS.includes(name)),
  );
  const differences = listDifferences(await readSettings(sql), localSettings);
  const areEqual = differences.length === 0;
  return finding(
    'settings',
    areEqual,
    areEqual ? 'are those of the running processes' : differences.join('; '),
    'Set it as it is there, or change it everywhere: docs/configure.md, "Equal on all hosts".',
  );
}

/** A missing folder is reported separately, and is not made here. */
async function sharedStorage(sql: Sql, config: Config): Promise<Finding[]> {
  if (!config.s3 && !existsSync(config.storage_dir)) return [];
  const storage = openConfiguredStorage(config, await loadRecordedMark(sql));
  const claimed = { storage, name: describeConfiguredStorage(config) };
  const fault = await storageFault(sql, claimed).catch((error: unknown) => error as Error);
  return [finding('shared storage', !fault, fault?.message ?? 'is that of this database')];
}

async function pepper(sql: Sql, config: Config): Promise<Finding> {
  const matches = await pepperMatches(sql, config);
  if (matches === false) return finding('pepper', false, new WrongPepper(config).message);
  return finding(
    'pepper',
    true,
    matches ? 'is the one of this database' : 'none yet: a start makes one',
  );
}

async function storage(config: Config): Promise<Finding> {
  const settings = storageSettings(config);
  const name = describeStorage({ ...settings, folder: resolve(settings.folder) });
  if (!config.s3 && !existsSync(config.storage_dir))
    return finding('storage', true, `${name} is made by the start`);
  try {
    await openStorage(settings).check();
    return finding('storage', true, `${name} can be written`);
  } catch (error) {
    const { message } = folderFault('STORAGE_DIR', settings.folder, error) as Error;
    return finding('storage', false, message);
  }
}

/**
 * Numbers whose purchase was interrupted: they may be paid for, and belong to no company until the
 * purchase is finished.
 */
export const listInterruptedPurchases = async (sql: Sql): Promise<string[]> =>
  (await sql(UNFINISHED_PURCHASES, {})).map(({ number }) => number!);

export function reportPurchases(numbers: readonly string[]): Finding {
  if (numbers.length === 0) return finding('numbers', true, 'no purchase was interrupted');
  return finding(
    'numbers',
    false,
    `interrupted purchases: ${numbers.join(', ')}`,
    'Finish each: POST /api/v1/phone_numbers with its requested_number. DELETE then returns it.',
  );
}
