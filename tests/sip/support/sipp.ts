import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendRequest } from './message';
import { findUdpPort, isBound, startProgram, type Program } from './programs';
import { waitUntil } from './waiting';

const SCENARIOS = join(__dirname, '../scenarios');
/** The status of scenarios/buyer-refuses.xml. */
const STATUS = '486 Busy Here';
/** A scenario goes on when a MESSAGE of the call arrives, and logs that it has. */
const CUE = 'cue';
/** Characters of the latest SIP messages that a failure shows. */
const MAX_SHOWN = 5_000;
/** Bytes that wait for SIPp: with fewer, packets of many calls are lost. */
const BUFFER = '200000';

/** One side of some calls: a SIPp, whose scenario logs what happens to each. */
export interface Side {
  port: number;
  /** The happenings of a call so far, or of all calls. */
  log(callId?: string): string[];
  /** The Call-IDs of the calls so far. */
  callIds(): string[];
  /** Waits until what begins with this has happened to so many calls. */
  until(happening: string, count?: number): Promise<void>;
  /** Lets its side of a call hang up, or give up. */
  hangUp(callId: string): Promise<void>;
  /** Waits until all of its calls have ended, as its scenario says. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

export interface Media {
  /** The action of SIPp. */
  exec: string;
  after_ms?: number;
  /** Files that the action names. */
  files?: Record<string, Buffer>;
}

export interface SippOptions {
  /** A file of ../scenarios, without its ending. */
  scenario: string;
  /** Replaces the status that the file has. */
  status?: string;
  args?: readonly string[];
  /** Sent as RTP when the call is answered. */
  media?: Media;
  /** A file that its arguments name: its text, by the name of the option. */
  files?: Record<string, string>;
  /** The port where its requests go; none for a side that only answers. */
  target?: number;
}

interface Started {
  side: Side;
  program: Program;
}

const MAX_STARTS = 5;
/** All calls have gone as the scenario says, or some have not: SIPp itself could run. */
const CODES_OF_CALLS: readonly (number | null)[] = [0, 1];

/** Starts SIPp, again where something else has taken its ports since they were found free. */
export async function startSipp(options: SippOptions): Promise<Started> {
  for (let start = 1; ; start++) {
    const { side, program } = await startOnce(options);
    const isDecided = () => isBound(side.port) || !program.isRunning() || undefined;
    await waitUntil('SIPp listens', isDecided, () => program.output());
    if (program.isRunning() || CODES_OF_CALLS.includes(await program.ended))
      return { side, program };
    await side.stop();
    if (start === MAX_STARTS) throw new Error(`SIPp has ended: ${program.output()}`);
  }
}

async function startOnce(options: SippOptions): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-sipp-'));
  const port = await findUdpPort();
  const program = startProgram('sipp', await buildArguments(options, folder, port), folder);
  const read = (name: string) => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const readLog = (callId?: string) =>
    read('log')
      .split('\n')
      .filter((line) => line !== '' && (!callId || line.startsWith(`${callId} `)))
      .map((line) => line.slice(line.indexOf(' ') + 1));
  const describe = () =>
    [read('log'), read('errors'), read('messages').slice(-MAX_SHOWN)].join('\n---\n');
  const name = options.scenario;
  const side: Side = {
    port,
    log: (callId) => readLog(callId).filter((line) => line !== CUE),
    callIds: () => [
      ...new Set(
        read('log')
          .split('\n')
          .filter(Boolean)
          .map((line) => line.slice(0, line.indexOf(' '))),
      ),
    ],
    until: async (happening, count = 1) => {
      const isSo = () =>
        readLog().filter((line) => line.startsWith(happening)).length >= count || undefined;
      await waitUntil(`${name}: ${happening} (${count})`, isSo, describe);
    },
    hangUp: async (callId) => {
      // A packet may be lost. SIPp takes a second one for a repetition of the first.
      const hears = async () => {
        if (!program.isRunning()) throw new Error(`${name} has ended:\n${describe()}`);
        await sendRequest('MESSAGE', callId, port);
        return readLog(callId).includes(CUE) || undefined;
      };
      await waitUntil(`${name}: its cue`, hears, describe);
    },
    finish: async () => {
      const code = await program.ended;
      if (code !== 0) throw new Error(`${name} ended with ${code}:\n${describe()}`);
    },
    stop: async () => {
      await program.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return { side, program };
}

/** The line of a scenario that follows the answer. */
const ANSWERED = '  <recv request="BYE" optional="true" next="ended">';
const CODEC = 'RTP/AVP 0\n      a=rtpmap:0 PCMU/8000';
const CODECS =
  'RTP/AVP 0 101\n      a=rtpmap:0 PCMU/8000\n      a=rtpmap:101 telephone-event/8000\n' +
  '      a=fmtp:101 0-15';

function addMedia(text: string, media: Media | undefined): string {
  if (!media) return text;
  const action = `<nop><action><exec ${media.exec}/></action></nop>`;
  const pause = `<pause milliseconds="${media.after_ms ?? 0}"/>`;
  return text.replace(CODEC, CODECS).replace(ANSWERED, `  ${pause}\n  ${action}\n${ANSWERED}`);
}

async function buildArguments(
  { scenario, status = STATUS, args = [], files = {}, media: played, target }: SippOptions,
  folder: string,
  port: number,
): Promise<string[]> {
  const text = readFileSync(join(SCENARIOS, `${scenario}.xml`), 'utf8');
  const written = { ...files, '-sf': addMedia(text.replace(STATUS, status), played) };
  for (const [name, content] of Object.entries(played?.files ?? {}))
    writeFileSync(join(folder, name), content);
  for (const [option, content] of Object.entries(written))
    writeFileSync(join(folder, `file${option}`), content);
  const [media, control] = [await findUdpPort(), await findUdpPort()];
  return [
    ...Object.keys(written).flatMap((option) => [option, join(folder, `file${option}`)]),
    ...['-i', '127.0.0.1', '-p', String(port), '-mp', String(media), '-cp', String(control)],
    // A message that is repeated late is left out.
    ...['-nostdin', '-buff_size', BUFFER, '-default_behaviors', 'all,-abortunexp'],
    ...['-trace_logs', '-log_file', join(folder, 'log')],
    ...['-trace_err', '-error_file', join(folder, 'errors')],
    ...['-trace_msg', '-message_file', join(folder, 'messages')],
    ...args,
    ...(target === undefined ? [] : [`127.0.0.1:${target}`]),
  ];
}
