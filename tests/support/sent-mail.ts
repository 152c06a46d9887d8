import { createRunners } from '../../src/main/background/runners';
import { startWorkers } from '../../src/data/jobs/workers';
import type { TaskName } from '../../src/data/jobs/tasks';
import type { Mail } from '../../src/platform/mail/mailer';
import { eventually } from './engine-process';
import { openWorld, useWorld, type UsedWorld, type WorldSetup } from './use-world';

/** The service is set up to send mail; it only reaches the mailer that records. */
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9' };
const SETUP: WorldSetup = { environment: { TRUST_PROXY: '1' } };

const withMail = (setup: WorldSetup): WorldSetup => ({
  ...setup,
  environment: { ...(setup.environment as Record<string, string> | undefined), ...MAIL },
});

function recordMails(world: UsedWorld) {
  const mails: Mail[] = [];
  const listTo = (address: string) => mails.filter(({ to }) => to === address);
  return {
    world,
    mails,
    /** A mailer that records into `mails`. */
    get mailer(): UsedWorld['deps']['mailer'] {
      return {
        ...world.deps.mailer,
        send: async (mail: Mail) => (mails.push(mail), { ok: true, message_id: mail.key }),
      };
    },
    /** Waits until no job of a kind is left. */
    ended: (name: TaskName): Promise<void> =>
      eventually(async () => {
        const left = await world.sql('SELECT FROM jobs.job WHERE name = $1 LIMIT 1', [name]);
        return left.length === 0;
      }),
    /** Waits for the mails to an address. */
    mailTo: async (address: string, count = 1): Promise<Mail[]> => {
      await eventually(() => listTo(address).length >= count);
      return listTo(address);
    },
  };
}

/** Runs the jobs of a world with the mailer. */
async function startJobs({ world, mailer }: ReturnType<typeof recordMails>): Promise<void> {
  const { log } = world.deps;
  for (const { database } of world.deps.parts()) {
    const runners = createRunners({ ...world.deps, database, mailer });
    world.closeLater((await startWorkers({ database, log, runners })).stop);
  }
}

/** A world whose jobs run, with a mailer that only records: registers the hooks of a test file. */
export function useMailWorld(setup: WorldSetup = SETUP) {
  const recording = recordMails(useWorld(withMail(setup)));
  beforeAll(() => startJobs(recording));
  return recording;
}

/** The world of a file that has hooks of its own. */
export async function createMailWorld(setup: WorldSetup = SETUP) {
  const world = await openWorld(withMail(setup));
  const recording = recordMails(world);
  await startJobs(recording);
  return Object.assign(recording, { close: world.close });
}

export type MailWorld = Awaited<ReturnType<typeof createMailWorld>>;
