import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';

// Programs of Debian that speak SIP: Kamailio, SIPp for callers and buyers, and baresip, which has
// sound.

const INSTALL = '.ci/sip installs them';

/** Names the programs that are not installed; undefined if all are. */
export function missingPrograms(): string | undefined {
  const missing = ['kamailio', 'sipp', 'baresip'].filter(
    (program) => spawnSync(program, ['-h'], { stdio: 'ignore' }).error,
  );
  return missing.length > 0 ? `no ${missing.join(', no ')}: ${INSTALL}` : undefined;
}

export interface Program {
  pid: number;
  /** Its exit code once it has ended; null after a signal. */
  ended: Promise<number | null>;
  /** The latest of what it has written. */
  output(): string;
  isRunning(): boolean;
  /** Ends it and the processes that it has forked; returns when they are gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const MAX_OUTPUT = 50_000;
/** A program that is asked to end and does not is killed. */
const GRACE_MS = 10_000;

/** Kills what still runs when this process ends. */
const running = new Set<() => void>();
process.once('exit', () => {
  for (const kill of running) kill();
});

/** Starts a program, which also ends with this process. */
export function startProgram(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Record<string, string> = {},
): Program {
  const env = { ...process.env, ...environment };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`cannot start ${command}`);
  let output = '';
  const read = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-MAX_OUTPUT));
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const killAll = () => killTree(pid);
  running.add(killAll);
  const ended = new Promise<number | null>((done) => {
    child.once('exit', (code) => {
      running.delete(killAll);
      done(code);
    });
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    ended,
    output: () => output,
    isRunning,
    end: async (signal) => {
      if (!isRunning()) return;
      if (signal === 'SIGKILL') killAll();
      else child.kill(signal);
      const timer = setTimeout(killAll, GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Kills a process and those that it has forked, which would live on. */
function killTree(pid: number): void {
  const forked = listChildren(pid);
  for (const child of [pid, ...forked]) killProcess(child);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function listChildren(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const [FIRST_PORT, LAST_PORT] = [10_000, 32_000];
/** A program that is given a port for media also takes the second after it. */
const PORT_STEP = 4;
let nextPort = randomInt(FIRST_PORT, LAST_PORT);

/**
 * A UDP port that is free, and below those that the system gives to outgoing packets. No port is
 * given twice: programs that start at the same time take theirs later.
 */
export async function findUdpPort(): Promise<number> {
  for (;;) {
    nextPort = nextPort + PORT_STEP < LAST_PORT ? nextPort + PORT_STEP : FIRST_PORT;
    const port = nextPort;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = createSocket('udp4').once('error', () => done(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => done(true)));
  });
}

/** True if a program of this machine receives packets at a port of 127.0.0.1. */
export function isBound(port: number): boolean {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/udp', 'utf8').includes(local);
}
