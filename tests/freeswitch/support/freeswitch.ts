import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/process';
import type { StartedSwitch } from '../../sip/support/adapter-world';
import { readExample } from '../../sip/support/example';
import { findUdpPort, startProgram, type Program } from '../../sip/support/programs';
import { waitUntil } from '../../sip/support/waiting';

/** The folder that FreeSWITCH was installed in (configure --prefix). */
const PREFIX = process.env.FREESWITCH_PREFIX ?? '';
const PASSWORD = 'CHANGE_ME';

/** Names what is missing for calls by FreeSWITCH; undefined if all is there. */
export const missingFreeswitch = (): string | undefined =>
  existsSync(join(PREFIX, 'bin/freeswitch'))
    ? undefined
    : 'no FreeSWITCH in FREESWITCH_PREFIX: .ci/freeswitch builds it';

export interface Freeswitch extends StartedSwitch {
  /** Where the adapter is to listen. */
  adapter_port: number;
  httapi_key: string;
  socket_port: number;
  socket_password: string;
  recordings_dir: string;
}

export interface FreeswitchOptions {
  /** Where the trunk is: a port of this machine. */
  trunk: number;
  /** Who gets calls while the service is away. */
  overflow: string;
}

const MODULES = [
  ...['logfile', 'commands', 'dptools', 'dialplan_xml', 'sndfile', 'native_file', 'tone_stream'],
  ...['httapi', 'event_socket', 'sofia'],
];
const FOLDERS = ['conf', 'log', 'db', 'run', 'recordings', 'storage', 'sounds', 'temp', 'cache'];

/** Starts FreeSWITCH with the files of the example. */
export async function startFreeswitch(options: FreeswitchOptions): Promise<Freeswitch> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-freeswitch-'));
  for (const name of FOLDERS) mkdirSync(join(folder, name));
  const [sipPort, rtpPort] = [await findUdpPort(), await findUdpPort()];
  const [adapterPort, socketPort] = [await freePort(), await freePort()];
  const files = {
    'sip_profile.xml': readExample('freeswitch/sip_profile.xml', {
      'value="5060"': `value="${sipPort}"`,
      'sip.carrier.example': `127.0.0.1:${options.trunk}`,
    }),
    'trunkline.xml': readExample('freeswitch/trunkline.xml', {
      'sofia/gateway/trunk/+12125550199': `sofia/trunkline/${options.overflow}`,
    }),
    'httapi.conf.xml': readExample('freeswitch/httapi.conf.xml', {
      '127.0.0.1:8090': `127.0.0.1:${adapterPort}`,
    }),
    'freeswitch.xml': buildMain({ socket_port: socketPort, rtp_port: rtpPort }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'conf', name), text);
  const readLog = () => {
    const file = join(folder, 'log/freeswitch.log');
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-MAX_LOG) : '';
  };
  let program: Program;
  const start = async () => {
    program = startProgram(join(PREFIX, 'bin/freeswitch'), buildArguments(folder), folder, {
      LD_LIBRARY_PATH: join(PREFIX, 'usr/lib'),
    });
    await waitUntil(
      'FreeSWITCH is up',
      () => {
        if (!program.isRunning()) throw new Error(`FreeSWITCH has ended: ${program.output()}`);
        return readLog().includes('Session Rate') || undefined;
      },
      readLog,
    );
  };
  await start();
  return {
    ...{ sip_port: sipPort, adapter_port: adapterPort, socket_port: socketPort },
    ...{ httapi_key: `trunkline:${PASSWORD}`, socket_password: PASSWORD },
    recordings_dir: join(folder, 'recordings'),
    log: readLog,
    stop: async () => {
      await program.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async () => {
      await program.end('SIGKILL');
      rmSync(join(folder, 'log/freeswitch.log'), { force: true });
      rmSync(join(folder, 'run'), { recursive: true, force: true });
      mkdirSync(join(folder, 'run'));
      await start();
    },
  };
}

const MAX_LOG = 200_000;

const buildArguments = (folder: string): string[] => [
  // Without a console, in the foreground; no look for a router.
  ...['-nc', '-nf', '-nonat', '-mod', join(PREFIX, 'lib/freeswitch/mod')],
  ...['-conf', join(folder, 'conf'), '-log', join(folder, 'log'), '-db', join(folder, 'db')],
  ...['-run', join(folder, 'run'), '-recordings', join(folder, 'recordings')],
  ...['-storage', join(folder, 'storage'), '-sounds', join(folder, 'sounds')],
  ...['-temp', join(folder, 'temp'), '-cache', join(folder, 'cache')],
  ...['-scripts', folder, '-htdocs', folder, '-certs', folder, '-grammar', folder],
];

/** All that the files of the example need around them. A preprocessor reads it line by line. */
const buildMain = ({ socket_port, rtp_port }: { socket_port: number; rtp_port: number }) => `
<document type="freeswitch/xml">
  <X-PRE-PROCESS cmd="set" data="local_ip_v4=127.0.0.1"/>
  <section name="configuration">
    <configuration name="modules.conf">
      <modules>${MODULES.map((name) => `<load module="mod_${name}"/>`).join('')}</modules>
    </configuration>
    <configuration name="logfile.conf">
      <profiles><profile name="default"><mappings>
        <map name="all" value="debug,info,notice,warning,err,crit,alert"/>
      </mappings></profile></profiles>
    </configuration>
    <configuration name="switch.conf">
      <settings>
        <param name="loglevel" value="debug"/>
        <param name="sessions-per-second" value="1000"/>
        <param name="rtp-start-port" value="${rtp_port + 10_000}"/>
        <param name="rtp-end-port" value="${rtp_port + 10_400}"/>
      </settings>
    </configuration>
    <configuration name="event_socket.conf">
      <settings>
        <param name="listen-ip" value="127.0.0.1"/>
        <param name="listen-port" value="${socket_port}"/>
        <param name="password" value="${PASSWORD}"/>
      </settings>
    </configuration>
    <configuration name="sofia.conf">
      <profiles>
        <X-PRE-PROCESS cmd="include" data="sip_profile.xml"/>
      </profiles>
    </configuration>
    <X-PRE-PROCESS cmd="include" data="httapi.conf.xml"/>
  </section>
  <section name="dialplan">
    <X-PRE-PROCESS cmd="include" data="trunkline.xml"/>
  </section>
</document>
`;
