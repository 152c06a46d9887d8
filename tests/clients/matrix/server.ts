import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript, startServer } from '../../support/process';
import { StepFailed } from './execute';

// The server that the clients talk to: the program itself, with a database of its own. Each client
// gets a new company, with what its program needs but does not make.

type Fields = Record<string, unknown>;
type Call = (method: string, path: string, body?: Fields) => Promise<Fields>;

export interface Company {
  /** The environment of the client's program. */
  env: Record<string, string>;
  /** The fields that each update changed, from the change log. */
  updates: () => Promise<unknown>;
}

export interface TestServer {
  addCompany: (name: string) => Promise<Company>;
  stop: () => Promise<void>;
}

export async function start(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-clients-server-'));
  const environment = { DATA_DIR: folder, LOG_LEVEL: 'warn' };
  const server = await startServer(environment);
  // An interrupted run stops its server.
  process.once('exit', () => server.child.kill('SIGTERM'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const url = `${server.url}/api/v1`;
  return {
    addCompany: async (name) => {
      const created = runScript('src/main/cli/index.ts', buildCompanyArguments(name), environment);
      if (created.code !== 0) throw new StepFailed('making a company failed', created.errors);
      const { public_key, private_key } = JSON.parse(created.output) as Record<string, string>;
      const call = buildCall(url, `${public_key}:${private_key}`);
      const records = await prepare(call);
      const env = {
        TRUNKLINE_URL: url,
        TRUNKLINE_KEY: public_key!,
        TRUNKLINE_SECRET: private_key!,
      };
      return { env: { ...env, ...records }, updates: () => loadUpdates(call) };
    },
    stop: async () => {
      await server.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const buildCompanyArguments = (name: string): string[] => [
  'company',
  'create',
  '--name',
  name,
  '--json',
];

const buildCall =
  (url: string, credentials: string): Call =>
  async (method, path, body) => {
    const answer = await fetch(`${url}/${path}`, {
      method,
      headers: {
        Authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
        'Content-Type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new StepFailed(`${method} ${path}: ${answer.status}`, text);
    return JSON.parse(text) as Fields;
  };

/** Two buyers of an offer, its schedule, and a do-not-call list. */
async function prepare(call: Call): Promise<Record<string, string>> {
  const make = async (path: string, root: string, body: Fields) =>
    (await call('POST', path, body))[root] as { id: number; lead_token: string };
  const acme = await make('buyers', 'buyer', {
    name: 'Acme',
    number: '+13105550111',
    weight: 70,
    press_one_to_accept: true,
  });
  await make('buyers', 'buyer', { name: 'Bayline', number: '+14155550122' });
  const offer = await make('offers', 'offer', { name: 'Solar', add_buyer_ids: [acme.id] });
  const schedule = await make('schedules', 'schedule', {
    name: 'Follow up',
    offer_id: offer.id,
    paused: true,
    daylight_hours: '09:30..16:30',
  });
  const list = await make('buyer_suppressions', 'buyer_suppression', { name: 'Do not call' });
  return {
    BUYER_ID: String(acme.id),
    OFFER_ID: String(offer.id),
    SCHEDULE_ID: String(schedule.id),
    LEAD_TOKEN: offer.lead_token,
    SUPPRESSION_ID: String(list.id),
  };
}

async function loadUpdates(call: Call): Promise<unknown> {
  const { change_logs } = await call('GET', 'change_logs?order_dir=asc&per_page=100');
  const updates = change_logs as { record_type: string; action: string; changes: Fields }[];
  return updates
    .filter(({ action }) => action === 'update')
    .map(({ record_type, changes }) => [record_type, Object.keys(changes)]);
}
