import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendRequest } from './message';
import { findUdpPort, startProgram, type Program } from './programs';
import { waitUntil } from './waiting';

const EXAMPLE = join(__dirname, '../../../examples/kamailio/trunkline.cfg');

/** Settings at the top of the configuration, by name. */
export type Settings = Record<string, string | number>;

export interface Kamailio {
  port: number;
  /** Its log since its last start. */
  log(): string;
  stop(): Promise<void>;
  /** As after a crash: nothing that it knew is left. */
  restart(): Promise<void>;
}

/** Starts Kamailio on a free port, with the file of the example or another one. */
export async function startKamailio(settings: Settings, file = EXAMPLE): Promise<Kamailio> {
  const port = await findUdpPort();
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-kamailio-'));
  const defines = Object.entries({ ...settings, LISTEN: `udp:127.0.0.1:${port}` });
  // -DD: in the foreground. -Y: where its sockets are.
  const args = ['-DD', '-E', '-f', file, '-Y', folder, '-w', folder];
  for (const [name, value] of defines) args.push('-A', `${name}=${value}`);
  let program: Program;
  const isUp = async () => {
    if (!program.isRunning()) throw new Error(`Kamailio has ended: ${program.output()}`);
    return (await sendRequest('OPTIONS', randomUUID(), port)) || undefined;
  };
  const start = async () => {
    program = startProgram('kamailio', args, folder);
    await waitUntil('Kamailio answers', isUp, () => program.output());
  };
  await start();
  return {
    port,
    log: () => program.output(),
    stop: async () => {
      await program.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async () => {
      await program.end('SIGKILL');
      await start();
    },
  };
}
