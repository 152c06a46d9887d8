import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { Refused, type Service } from './service';
import { pause } from '../../platform/pause';

// Recordings are stored by the service, and then deleted at the switch. Those that it still has
// wait: no other list of them is kept.

/** The longest time for one to be read or stored. */
export const RECORDING_TIMEOUT_MS = 60_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 60_000];

export interface RecordingEdges {
  service: Pick<Service, 'storeRecording'>;
  /** Undefined where there is no such recording. */
  read(name: string): Promise<Buffer | undefined>;
  remove(name: string): Promise<unknown>;
  log: Logger;
  signal: AbortSignal;
}

export const buildRecording = (kind: 'talk' | 'voicemail', uuid: string): string =>
  `tl-${kind}-${uuid}`;

/** The uuid in the name of a recording of the adapter; undefined for one of somebody else. */
export const readRecordingUuid = (name: string): string | undefined =>
  /^tl-(?:talk|voicemail)-([\da-f-]{36})$/.exec(name)?.[1];

export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Has the service store a recording, again and again until it has an answer. */
export async function storeRecording(name: string, edges: RecordingEdges): Promise<void> {
  const uuid = readRecordingUuid(name);
  if (uuid === undefined) return;
  let pauseMs = FIRST_PAUSE_MS;
  while (!edges.signal.aborted) {
    if (await tryStoring(name, uuid, edges)) return;
    await pause(pauseMs, edges.signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Returns false if it is to be tried again. */
async function tryStoring(name: string, uuid: string, edges: RecordingEdges): Promise<boolean> {
  const { service, read, remove, log, signal } = edges;
  try {
    const wav = await read(name);
    if (!wav) return true;
    await service.storeRecording(uuid, wav, { timeout_ms: RECORDING_TIMEOUT_MS, signal });
    await remove(name);
    log.info({ call_uuid: uuid, bytes: wav.length }, 'a recording was stored');
    return true;
  } catch (error) {
    log.warn({ err: error, recording: name }, 'a recording was not stored');
    // The switch keeps the file.
    return error instanceof Refused;
  }
}
