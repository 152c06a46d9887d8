import { Option, type Command } from 'commander';
import { loadConfig } from '../config';
import { BASE_PATH, type Schemas } from '../../platform/contract/contract';
import { trimUrl } from '../../platform/trim-url';
import type { Installation } from '../../operate/installation/open';
import { issueCredentials, revokeCredentials } from '../../domain/people/issue-credentials';
import { withInstallation } from './command';

// Commands that call the running service through its API.

const DAY_MS = 86_400_000;

export interface ServiceOptions {
  url?: string;
  key?: string;
}

export const withServiceOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'where the service listens, if not on this machine')
    .addOption(
      new Option(
        '--key <public:private>',
        'a key pair to use; without it, one is made for the command and revoked afterwards',
      ).env('TRUNKLINE_KEY'),
    );

/** The running service, as a caller with a key pair sees it. */
export interface Service {
  /** Its address, without a path. */
  url: string;
  authorization: string;
  /** Sends a request below the base path of the API. Throws with the messages of the API. */
  ask<Answer>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer>;
}

export interface OwnKey {
  company: (installation: Installation) => Promise<bigint>;
  name: string;
  permissions: string[];
  /** It may do everything: what the command grants is not known before. */
  superuser?: boolean;
}

/**
 * Runs the work with the given key pair, or with a new one that is revoked afterwards: then the
 * command also reaches the installation.
 */
export function withService<T>(
  { url, key }: ServiceOptions,
  ownKey: OwnKey,
  work: (service: Service, installation?: Installation) => Promise<T>,
): Promise<T> {
  const { port } = loadConfig();
  const at = trimUrl(url ?? `http://127.0.0.1:${port}`);
  const run = (credentials: string, installation?: Installation) =>
    work(openService(at, credentials), installation);
  return key ? run(key) : withOwnKey(ownKey, run);
}

export function openService(url: string, credentials: string): Service {
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return {
    url,
    authorization,
    ask: async <Answer>(method: string, path: string, body?: object) => {
      const res = await fetch(`${url}${BASE_PATH}${path}`, {
        method,
        headers: { Authorization: authorization, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      }).catch((error: Error) => {
        throw toUnreachableError(url, error.cause as NodeJS.ErrnoException);
      });
      return readAnswer<Answer>(res.status, await res.text());
    },
  };
}

/** Explains why no request can be sent to the service. */
export const toUnreachableError = (url: string, error: NodeJS.ErrnoException): Error =>
  error.code === 'ECONNREFUSED'
    ? new Error(`No service answers at ${url}. Start it with: npm start`)
    : error;

/** Returns the answer of the API. Throws its messages when it refuses. */
export function readAnswer<Answer>(status: number, text: string): Answer {
  if (status < 300) return JSON.parse(text) as Answer;
  const { errors, detail } = JSON.parse(text) as Schemas['Problem'];
  throw new Error(
    Object.entries(errors)
      .map(([field, faults]) => `${field} ${faults.join(', ')}`)
      .join('\n') || detail,
  );
}

function withOwnKey<T>(
  ownKey: OwnKey,
  work: (key: string, installation: Installation) => Promise<T>,
): Promise<T> {
  return withInstallation(async (installation) => {
    const { tenants, pepper, clock } = installation.deps;
    const db = tenants.of(await ownKey.company(installation));
    const newCredentials = {
      name: ownKey.name,
      kind: 'key_pair' as const,
      permissions: ownKey.permissions,
      superuser: ownKey.superuser ?? false,
      expires_at: new Date(clock().getTime() + DAY_MS),
    };
    const { id, public_key, private_key } = await db.transaction((tx) =>
      issueCredentials(tx, newCredentials, { pepper, now: clock() }),
    );
    return Promise.race([
      work(`${public_key}:${private_key}`, installation),
      rejectOnInterrupt(),
    ]).finally(() => db.transaction((tx) => revokeCredentials(tx, id, clock())));
  });
}

/**
 * Rejects on Ctrl-C. Under npm the signal arrives twice, so the listener stays: the second one must
 * not end the process before the key is revoked.
 */
const rejectOnInterrupt = () =>
  new Promise<never>((_, fail) => {
    process.on('SIGINT', () =>
      fail(new Error('Stopped waiting. What the service has accepted, it does all the same.')),
    );
  });
