import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Ari } from './ari/ari';
import { openRest, type ClientSettings } from './ari/client';
import { readRecordingUuid } from './call/call';
import { Refused, type Service } from '../service/service';
import { pause } from '../../platform/pause';

// Recordings are stored by the service, and then deleted here. Those that Asterisk still has wait:
// no other list of them is kept.

const TIMEOUT_MS = 60_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 60_000];

export interface RecordingEdges {
  service: Pick<Service, 'storeRecording'>;
  /** The connection of the moment. */
  ari: Ari;
  /** Undefined where there is no such recording. */
  read(name: string): Promise<Buffer | undefined>;
  log: Logger;
  signal: AbortSignal;
}

/** Reads from the folder of Asterisk, or by HTTP. */
export function createReader(
  folder: string | undefined,
  client: ClientSettings | undefined,
): RecordingEdges['read'] {
  if (folder !== undefined) return (name) => readIfThere(join(folder, `${name}.wav`));
  if (!client) throw new Error('recordings need --recordings-dir where Asterisk connects to us');
  const { authorization } = openRest(client);
  return async (name) => {
    const response = await fetch(`${client.url}/recordings/stored/${name}/file`, {
      headers: { authorization },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`Asterisk answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
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
  const { service, ari, read, log, signal } = edges;
  try {
    const wav = await read(name);
    if (!wav) return true;
    await service.storeRecording(uuid, wav, { timeout_ms: TIMEOUT_MS, signal });
    await ari.ask({ method: 'DELETE', path: `/recordings/stored/${name}` });
    log.info({ call_uuid: uuid, bytes: wav.length }, 'a recording was stored');
    return true;
  } catch (error) {
    log.warn({ err: error, recording: name }, 'a recording was not stored');
    // Asterisk keeps the file.
    return error instanceof Refused;
  }
}

/** Names of recordings that were left by the process before. */
export async function listRecordings(ari: Ari): Promise<string[]> {
  const stored = await ari.ask<{ name: string }[]>({ method: 'GET', path: '/recordings/stored' });
  return stored.map(({ name }) => name).filter((name) => readRecordingUuid(name) !== undefined);
}
