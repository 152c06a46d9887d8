import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/process';
import type { StartedSwitch } from '../../sip/support/adapter-world';
import { readExample as readExampleFile } from '../../sip/support/example';
import { findUdpPort, startProgram, type Program } from '../../sip/support/programs';
import { waitUntil } from '../../sip/support/waiting';

/** The folder that Asterisk was installed in (configure --prefix). */
const PREFIX = process.env.ASTERISK_PREFIX ?? '';
const EXAMPLE_PASSWORD = 'CHANGE_ME';

/** Names what is missing for calls by Asterisk; undefined if all is there. */
export const missingAsterisk = (): string | undefined =>
  existsSync(join(PREFIX, 'sbin/asterisk'))
    ? undefined
    : 'no Asterisk in ASTERISK_PREFIX: .ci/asterisk builds it';

export interface Asterisk extends StartedSwitch {
  ari_url: string;
  ari_key: string;
  recordings_dir: string;
  /** Runs a command of its console. */
  console(command: string): Promise<string>;
}

export interface AsteriskOptions {
  /** Where the trunk is: a port of this machine. */
  trunk: number;
  /** Who gets calls while the service is away. */
  overflow: string;
  /** Asterisk connects to the adapter at this port. */
  adapter?: number;
}

const readExample = (name: string, replaced: Record<string, string>): string =>
  readExampleFile(`asterisk/${name}`, replaced);

const OUTBOUND_ARI = `
[to-adapter]
type=outbound_websocket
websocket_client_id=adapter
apps=trunkline
local_ari_user=trunkline
`;

/** A member of a queue, at the telephone of the overflow. */
const AGENT = '\n[agents]\nexten => agent,1,Dial(${OVERFLOW},60)\n';

/** Starts Asterisk with the files of the example. */
export async function startAsterisk(options: AsteriskOptions): Promise<Asterisk> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-asterisk-'));
  const [sipPort, ariPort, rtpPort] = [await findUdpPort(), await freePort(), await findUdpPort()];
  const folders = ['etc', 'varlib', 'spool', 'run', 'log', 'spool/recording'];
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  const trunk = `127.0.0.1:${options.trunk}`;
  const files: Record<string, string> = {
    'pjsip.conf': readExample('pjsip.conf', {
      'bind=0.0.0.0:5060': `bind=127.0.0.1:${sipPort}`,
      'contact=sip:sip.carrier.example': `contact=sip:${trunk}`,
      'match=sip.carrier.example': 'match=127.0.0.1',
    }),
    'extensions.conf':
      readExample('extensions.conf', {
        'PJSIP/+12125550199@trunk': options.overflow,
      }) + AGENT,
    'ari.conf': readExample('ari.conf', {}) + (options.adapter === undefined ? '' : OUTBOUND_ARI),
    'amd.conf': readExample('amd.conf', {}),
    'http.conf': readExample('http.conf', { 'bindport=8088': `bindport=${ariPort}` }),
    ...(options.adapter !== undefined && {
      'websocket_client.conf': readExample('websocket_client.conf', {
        'ws://127.0.0.1:8089': `ws://127.0.0.1:${options.adapter}`,
      }),
    }),
    'queues.conf': '[agents]\nmember => Local/agent@agents\n',
    'rtp.conf': `[general]\nrtpstart=${rtpPort + 10_000}\nrtpend=${rtpPort + 10_400}\n`,
    'modules.conf': '[modules]\nautoload=yes\n',
    'logger.conf': '[general]\n[logfiles]\nconsole => notice,warning,error,verbose(3)\n',
    'asterisk.conf': buildMain(folder),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'etc', name), text);
  linkData(folder);
  const binary = join(PREFIX, 'sbin/asterisk');
  const config = ['-C', join(folder, 'etc/asterisk.conf')];
  const runConsole = async (command: string) => {
    const program = startProgram(binary, ['-x', command, ...config], folder);
    await program.ended;
    return program.output();
  };
  let program: Program;
  const start = async () => {
    // -f: in the foreground.
    program = startProgram(binary, ['-f', '-vvv', ...config], folder);
    await waitUntil(
      'Asterisk is up',
      async () => {
        if (!program.isRunning()) throw new Error(`Asterisk has ended: ${program.output()}`);
        const isUp = (await runConsole('core waitfullybooted')).includes('fully booted');
        return isUp || undefined;
      },
      () => program.output(),
    );
  };
  await start();
  return {
    sip_port: sipPort,
    ari_url: `http://127.0.0.1:${ariPort}/ari`,
    ari_key: `trunkline:${EXAMPLE_PASSWORD}`,
    recordings_dir: join(folder, 'spool/recording'),
    log: () => program.output(),
    console: runConsole,
    stop: async () => {
      await program.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async () => {
      await program.end('SIGKILL');
      await start();
    },
  };
}

/** The data of Asterisk, with a beep of our own: a build may have no sounds. */
function linkData(folder: string): void {
  const installed = join(PREFIX, 'var/lib/asterisk');
  mkdirSync(join(folder, 'data/sounds/en'), { recursive: true });
  for (const name of readdirSync(installed))
    if (name !== 'sounds') symlinkSync(join(installed, name), join(folder, 'data', name));
  // 200 ms of signed samples of 16 bits.
  writeFileSync(join(folder, 'data/sounds/en/beep.sln'), Buffer.alloc(3_200, 0x10));
}

const buildMain = (folder: string): string => `[directories]
astetcdir => ${folder}/etc
astmoddir => ${PREFIX}/lib/asterisk/modules
astvarlibdir => ${folder}/varlib
astdbdir => ${folder}/varlib
astkeydir => ${folder}/varlib
astdatadir => ${folder}/data
astagidir => ${folder}/varlib
astspooldir => ${folder}/spool
astrundir => ${folder}/run
astlogdir => ${folder}/log
[options]
transmit_silence = yes
`;
