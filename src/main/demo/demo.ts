import { HostsClient } from '../../data/postgres/hosts-client';
import { sqlOn } from '../../data/sql';
import type { Deps } from '../../domain/deps';
import { createCompany, type NewCompany } from '../../operate/installation/create-company';
import { HttpProblem } from '../../platform/errors';
import { StartError } from '../../platform/start-error';
import { loadDemoData } from './data';
import { DAY_MS, planBusyDay, type BusyOptions } from './plan';
import { deliverOnce, playDay } from './play';
import { LOCK_DEMO } from './queries/demo';
import { createSender, type Ids, type Sender } from './requests';

const LOCK = 7_481_203;

export interface FirstStart {
  demo?: NewCompany | undefined;
  /** True if there is no company. */
  is_empty: boolean;
}

/** Makes the demo company if there is no company yet, unless DEMO=false. */
export async function prepareCompanies(deps: Deps): Promise<FirstStart> {
  if (deps.parts()[0] !== deps) return { is_empty: false };
  // A separate connection, because making the company needs those of the pool.
  const client = new HostsClient({ connectionString: deps.database.session_url });
  await client.connect();
  try {
    // Two servers may start on the same empty database.
    await sqlOn(client)(LOCK_DEMO, { lock: LOCK });
    const company = await deps.database.prisma.company.findFirst({ select: { id: true } });
    if (company || !deps.config.demo) return { is_empty: !company };
    return { demo: await createDemo(deps, 'Demo Company'), is_empty: false };
  } finally {
    await client.end();
  }
}

/** Makes a company with the sample data of assets/demo.yaml. All or nothing. */
export const createDemo = (deps: Deps, name: string, ids: Ids = new Map()): Promise<NewCompany> =>
  createCompany(name, deps, {
    demo: true,
    more: async (db, company) => {
      const sender = createSender(deps, db, { company, ids });
      await sender.play(loadDemoData().company);
      if (deps.carrier.name === 'sandbox') await buyNumber(sender);
    },
  });

/** The demo also works without a number: it may be sold out. */
const buyNumber = (sender: Sender) =>
  sender.play(loadDemoData().sandbox).catch((error: unknown) => {
    if (!(error instanceof HttpProblem)) throw error;
  });

interface BusyDemoOptions extends Omit<BusyOptions, 'now'> {
  now?: Date;
  /** Called with the share of the day that is played, from 0 to 1. */
  progress?: (share: number) => void;
}

/** A busy day contacts leads, and none of them may be a real person. */
const buildSandboxError = () =>
  new StartError('A busy demo needs CARRIER=sandbox: its leads would be texted and called.');

/**
 * Makes a demo company with the last 24 hours of a busy day: calls, conversions, leads, an import
 * and a webhook that fails. It uses the operations of requests, with its own clock; equal seed and
 * time make an equal day.
 */
export async function createBusyDemo(
  deps: Deps,
  name: string,
  { now = deps.clock(), progress, ...options }: BusyDemoOptions,
): Promise<NewCompany> {
  if (deps.carrier.name !== 'sandbox') throw buildSandboxError();
  const plan = planBusyDay({ now, ...options });
  // The company is as old as its day: the windows of caps begin with it.
  let time = new Date(now.getTime() - DAY_MS);
  const then = { ...deps, clock: () => time };
  const ids: Ids = new Map();
  const company = await createDemo(then, name, ids);
  const sender = createSender(then, deps.tenants.of(company.company_id), { company, ids });
  await sender.play(loadDemoData().busy);
  await playDay(plan, sender, {
    ...{ deps: then, until: now, progress },
    setTime: (at) => void (time = at),
  });
  await deliverOnce(sender.db, deps);
  return company;
}
