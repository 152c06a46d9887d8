import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findUdpPort, isBound, startProgram } from './programs';
import { waitUntil } from './waiting';

// A telephone with sound: a baresip that plays a tone, hangs up at its end, and keeps all it hears.

const MODULES = '/usr/lib/baresip/modules';
const SAMPLE_RATE = 8_000;
const LOUDNESS = 8_000;
const WAV_HEADER_BYTES = 44;
const FULL_CIRCLE = 2 * Math.PI;

export interface Telephone {
  /** Its SIP address. */
  address: string;
  /** Its messages. */
  log(): string;
  /** Waits until it has had a call that has ended. */
  finish(): Promise<void>;
  /** For how many seconds it has heard a tone. */
  measure(hertz: number): number;
  stop(): Promise<void>;
}

interface Tone {
  hertz: number;
  seconds: number;
}

export interface TelephoneOptions {
  tone: Tone;
  /** Its number, or its name. */
  user: string;
  /** Whom it calls at once; a telephone without it answers. */
  calls?: string;
}

const computeSamples = ({ hertz, seconds }: Tone): Int16Array =>
  Int16Array.from({ length: seconds * SAMPLE_RATE }, (_, n) =>
    Math.round(LOUDNESS * Math.sin((FULL_CIRCLE * hertz * n) / SAMPLE_RATE)),
  );

function buildWav(samples: Int16Array): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  // PCM, one channel, 16 bits.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

const buildConfiguration = (folder: string, port: number, mediaPort: number): string =>
  [
    `sip_listen 127.0.0.1:${port}`,
    'net_interface 127.0.0.1',
    `rtp_ports ${mediaPort}-${mediaPort + 3}`,
    `module_path ${MODULES}`,
    ...['g711', 'aufile', 'aubridge', 'sndfile'].map((name) => `module ${name}.so`),
    ...['account', 'menu'].map((name) => `module_app ${name}.so`),
    `audio_source aufile,${join(folder, 'tone.wav')}`,
    'audio_player aubridge,heard',
    `snd_path ${join(folder, 'heard')}`,
    '',
  ].join('\n');

export async function startTelephone({ tone, user, calls }: TelephoneOptions): Promise<Telephone> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-telephone-'));
  const port = await findUdpPort();
  const address = `sip:${user}@127.0.0.1:${port}`;
  const account = `<${address}>;regint=0;answermode=${calls ? 'manual' : 'auto'}`;
  mkdirSync(join(folder, 'heard'));
  writeFileSync(join(folder, 'tone.wav'), buildWav(computeSamples(tone)));
  writeFileSync(join(folder, 'config'), buildConfiguration(folder, port, await findUdpPort()));
  writeFileSync(join(folder, 'accounts'), `${account}\n`);
  writeFileSync(join(folder, 'contacts'), '');
  const args = calls ? ['-e', `/dial ${calls}`] : [];
  const program = startProgram('baresip', ['-f', folder, ...args], folder);
  const log = () => program.output();
  await waitUntil('baresip listens', () => isBound(port) || undefined, log);
  return {
    address,
    log,
    finish: async () => {
      await waitUntil('its call', () => /terminated \(duration/.test(log()) || undefined, log);
    },
    measure: (hertz) => measureTone(readHeard(join(folder, 'heard')), hertz),
    stop: async () => {
      await program.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** All that the other sides of its calls have sent, decoded. */
function readHeard(folder: string): Int16Array {
  const names = readdirSync(folder).filter((name) => name.endsWith('-dec.wav'));
  const bytes = names.map((name) => readFileSync(join(folder, name)).subarray(WAV_HEADER_BYTES));
  const all = Buffer.concat(bytes);
  return Int16Array.from({ length: Math.floor(all.length / 2) }, (_, n) => all.readInt16LE(n * 2));
}

/** Tones of the tests have whole waves in it, so that none is taken for another. */
const WINDOW = SAMPLE_RATE / 10;

/** For how many seconds a tone was there; half as loud as it was sent counts half. */
function measureTone(samples: Int16Array, hertz: number): number {
  let sum = 0;
  for (let start = 0; start + WINDOW <= samples.length; start += WINDOW) {
    let [real, imaginary] = [0, 0];
    for (let n = 0; n < WINDOW; n++) {
      const angle = (FULL_CIRCLE * hertz * n) / SAMPLE_RATE;
      real += samples[start + n]! * Math.cos(angle);
      imaginary += samples[start + n]! * Math.sin(angle);
    }
    sum += Math.hypot(real, imaginary);
  }
  return (2 * sum) / LOUDNESS / SAMPLE_RATE;
}
