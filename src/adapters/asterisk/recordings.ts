import { join } from 'node:path';
import type { Ari } from './ari/ari';
import { openRest, type ClientSettings } from './ari/client';
import {
  readIfThere,
  readRecordingUuid,
  RECORDING_TIMEOUT_MS,
  type RecordingEdges,
} from '../service/recordings';

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
      signal: AbortSignal.timeout(RECORDING_TIMEOUT_MS),
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`Asterisk answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
}

/** Names of recordings that were left by the process before. */
export async function listRecordings(ari: Ari): Promise<string[]> {
  const stored = await ari.ask<{ name: string }[]>({ method: 'GET', path: '/recordings/stored' });
  return stored.map(({ name }) => name).filter((name) => readRecordingUuid(name) !== undefined);
}
