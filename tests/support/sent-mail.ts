import { setTimeout } from 'node:timers/promises';
import { createRunners } from '../../src/main/background/runners';
import { startWorkers } from '../../src/data/jobs/workers';
import type { Mail } from '../../src/platform/mail/mailer';
import { createWorld, type World } from './world';
import { FAR_MS } from './patience';

export interface MailWorld {
  world: World;
  mails: Mail[];
  /** A mailer that records into `mails`. */
  mailer: World['deps']['mailer'];
  /** Waits for the mails to an address. */
  mailTo(address: string, count?: number): Promise<Mail[]>;
  close(): Promise<void>;
}

/** A world whose jobs run, with a mailer that only records. */
export async function createMailWorld(
  options: Parameters<typeof createWorld>[0] = { environment: { TRUST_PROXY: '1' } },
): Promise<MailWorld> {
  const world = await createWorld(options);
  const mails: Mail[] = [];
  const mailer = {
    ...world.deps.mailer,
    send: async (mail: Mail) => (mails.push(mail), { ok: true as const, message_id: mail.key }),
  };
  const { log } = world.deps;
  const workers = await Promise.all(
    world.deps.parts().map(({ database }) => {
      const runners = createRunners({ ...world.deps, database, mailer });
      return startWorkers({ database, log, runners });
    }),
  );
  return {
    world,
    mails,
    mailer,
    mailTo: async (address, count = 1) => {
      const until = Date.now() + FAR_MS;
      while (Date.now() < until) {
        const addressedMails = mails.filter(({ to }) => to === address);
        if (addressedMails.length >= count) return addressedMails;
        await setTimeout(50);
      }
      throw new Error(`no mail to ${address}`);
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await world.close();
    },
  };
}
