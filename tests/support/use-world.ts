import type { Deps } from '../../src/domain/deps';
import { startWebhooks } from '../../src/main/background/start';
import { createDeps } from '../../src/operate/installation/deps';
import { standingClock, type StandingClock } from './clock';
import { eventually } from './engine-process';
import { ownNumber } from './leads';
import { checkPayload, startReceiver, type Answering, type Received } from './receiver';
import { nextNumber } from './records';
import { requests } from './requests';
import { createWorld, testConfig, type Api, type World, type WorldOptions } from './world';

type Environment = Record<string, string>;
type Close = () => unknown;

export interface WorldSetup extends Omit<WorldOptions, 'clock' | 'environment'> {
  /** Where the clock stands when a test begins; otherwise time passes. */
  clock?: string | (() => Date);
  environment?: Environment | (() => Promise<Environment>);
  /** Each test gets a new one. */
  fresh?: 'company' | 'world';
  /** Another server on loopback, which webhooks can be sent to, and its answers. */
  receiver?: true | Answering;
  /** Webhooks are sent. */
  webhooks?: boolean;
  /** Background jobs run. */
  jobs?: boolean;
  /** The company has a telephone number. */
  own_number?: boolean;
}

type Payload = ReturnType<typeof checkPayload>;

export interface Hook {
  id: number;
  secret: string;
  path: string;
  /** The requests so far. */
  got(): Received[];
  /** The payloads, once there are so many; each is checked against the contract. */
  payloads(count: number): Promise<Payload[]>;
}

/** A world with what most tests do in it. */
export interface UsedWorld extends World, Omit<ReturnType<typeof requests>, 'api'> {
  /** Sends a request of the company. */
  api: Api;
  nextNumber: typeof nextNumber;
  /** Only if it stands. */
  clock: StandingClock;
  /** Only with the option. */
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** The number of the company, as E.164; only with the option. */
  number: string;
  /** Creates a webhook with a path of its own at the receiver. */
  hook(triggerType: string, fields?: object): Promise<Hook>;
  /** Dependencies of another process of the service on the database. */
  openProcess(environment?: Environment): Deps;
  /** Closes something else before the world, the last first. */
  closeLater(close: Close): void;
}

/** A world before it is open: its functions can be taken from it already. */
function prepareWorld(setup: WorldSetup) {
  const world = {} as UsedWorld;
  const { clock, environment = {}, fresh, receiver, webhooks, jobs, own_number, ...rest } = setup;
  const stands = typeof clock === 'string';
  const standing = standingClock(stands ? clock : '2026-01-01');
  const readClock = stands ? standing.read : clock;
  const closing: Close[] = [];
  const closeLater = (close: Close) => void closing.push(close);
  const addNumber = async () => {
    if (!own_number) return;
    world.number = fresh === 'company' ? nextNumber() : '+12125550100';
    await ownNumber(world, world.company, world.number.slice(1));
  };
  const open = async () => {
    const settings = typeof environment === 'function' ? await environment() : { ...environment };
    if (receiver) {
      world.receiver = await startReceiver(receiver === true ? undefined : receiver);
      closeLater(world.receiver.close);
      settings.WEBHOOK_ALLOW_NETWORKS ??= '127.0.0.1/32';
    }
    const created = await createWorld({ ...rest, clock: readClock, environment: settings });
    closeLater(created.close);
    Object.assign(world, created, { close });
    if (webhooks) closeLater(startWebhooks(world.deps).stop);
    if (jobs) await world.work();
    if (fresh !== 'company') await addNumber();
  };
  const close = async () => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  const begin = async () => {
    standing.reset();
    if (fresh !== 'company') return;
    world.company = await world.addCompany();
    await addNumber();
  };
  Object.assign(world, {
    ...requests(() => world.company),
    api: (...request: Parameters<Api>) => world.company.api(...request),
    nextNumber,
    clock: standing,
    hook: (triggerType: string, fields?: object) => createHook(world, triggerType, fields),
    openProcess: (more?: Environment) => openProcess(world, { ...rest, clock: readClock }, more),
    closeLater,
  });
  return { world, open, begin, close };
}

function openProcess(
  { database, deps, closeLater }: UsedWorld,
  { clock, rate_window_seconds }: WorldOptions,
  environment: Environment = {},
): Deps {
  const others = createDeps({
    config: testConfig({ ...environment, ...database }),
    database_url: database.DATABASE_URL!,
    log: deps.log,
    clock,
    rate_window_seconds,
  });
  closeLater(async () => {
    others.live.close();
    await others.database.close();
  });
  return others;
}

// All paths are of one length: none is the beginning of another.
let hookCount = 1_000;

async function createHook({ ok, receiver }: UsedWorld, triggerType: string, fields: object = {}) {
  const path = `/hook${++hookCount}`;
  const name = `Hook ${hookCount}`;
  const body = { name, trigger_type: triggerType, url: `${receiver.url}${path}`, ...fields };
  const { outgoing_webhook, secret } = await ok('post', 'outgoing_webhooks', body);
  const got = () => receiver.received.filter((request) => request.path.startsWith(path));
  const payloads = async (count: number) => {
    await eventually(() => got().length >= count);
    return got().map(({ body: text }) => checkPayload(text));
  };
  return { id: outgoing_webhook.id, secret, path, got, payloads };
}

/** Opens such a world without the hooks of a test file. */
export async function openWorld(setup: WorldSetup = {}): Promise<UsedWorld> {
  const { world, open } = prepareWorld(setup);
  await open();
  return world;
}

/** The world of a test file, or of a `describe`: registers the hooks that open and close it. */
export function useWorld(setup: WorldSetup = {}): UsedWorld {
  const { world, open, begin, close } = prepareWorld(setup);
  if (setup.fresh === 'world') {
    beforeEach(open);
    afterEach(close);
  } else {
    beforeAll(open);
    afterAll(close);
  }
  beforeEach(begin);
  return world;
}
