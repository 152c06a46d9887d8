import { createReadStream, statSync } from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { basename } from 'node:path';
import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { BASE_PATH, type Schemas } from '../contract';

export interface ImportCommand {
  /** Where the service listens, without path: http://127.0.0.1:3000 */
  url: string;
  /** Value of the Authorization header. */
  authorization: string;
  list: string;
  file: string;
  apply_block_or_unblock: 'block' | 'unblock';
  caller_id_column_name?: string;
  /** Called with what is under way and how much of it is done, from 0 to 1. */
  progress: (
    part: 'upload' | 'import',
    done: number,
    record?: Schemas['BuyerSuppressionFile'],
  ) => void;
}

const POLL_MS = 200;

/**
 * Uploads a file to a suppression list through the API, waits until it is imported, and returns the
 * file's record. Throws with the messages of the API when it refuses.
 */
export async function importFile(command: ImportCommand): Promise<Schemas['BuyerSuppressionFile']> {
  let file = await upload(command);
  while (file.status === 'pending' || file.status === 'running') {
    await setTimeout(POLL_MS);
    // The import goes on while the service restarts.
    const res = await fetch(`${command.url}${file.routes_show_path}`, {
      headers: { Authorization: command.authorization },
    }).catch(() => undefined);
    if (!res || res.status >= 500) continue;
    file = read(res.status, await res.text());
    command.progress('import', (file.import_percent ?? 0) / 100, file);
  }
  return file;
}

function read(status: number, text: string): Schemas['BuyerSuppressionFile'] {
  if (status < 300)
    return (JSON.parse(text) as Schemas['BuyerSuppressionFileReply']).buyer_suppression_file;
  const { errors, detail } = JSON.parse(text) as Schemas['Problem'];
  throw new Error(
    Object.entries(errors)
      .map(([field, faults]) => `${field} ${faults.join(', ')}`)
      .join('\n') || detail,
  );
}

/** Sends the form in pieces: a file of any size needs little memory, and progress is visible. */
async function upload(command: ImportCommand): Promise<Schemas['BuyerSuppressionFile']> {
  const { url, authorization, file, progress } = command;
  const boundary = `trunkline-${randomUUID()}`;
  const { head, tail } = formAround(command, boundary);
  const bytes = statSync(file).size;
  const send = url.startsWith('https:') ? secureRequest : request;
  const req = send(`${url}${BASE_PATH}/buyer_suppression_files`, {
    method: 'POST',
    headers: {
      Authorization: authorization,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': Buffer.byteLength(head) + bytes + Buffer.byteLength(tail),
    },
  });
  const response = responseTo(req, url);
  let sent = 0;
  const pieces = async function* () {
    yield head;
    for await (const piece of createReadStream(file)) {
      yield piece;
      progress('upload', (sent += (piece as Buffer).length) / bytes);
    }
    yield tail;
  };
  // The service may refuse before everything is sent; then its response is what counts.
  pipeline(pieces, req).catch(() => undefined);
  const { status, text } = await response;
  return read(status, text);
}

/** The form before and after the bytes of the file. */
function formAround(
  { list, file, apply_block_or_unblock, caller_id_column_name }: ImportCommand,
  boundary: string,
): { head: string; tail: string } {
  const part = (headers: string, body = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${body}`;
  const fields = { buyer_suppression_id: list, apply_block_or_unblock, caller_id_column_name };
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${part(`name="${name}"`, value)}\r\n`],
  );
  const file_name = basename(file).replace(/["\r\n]/g, '_');
  return {
    head: `${texts.join('')}${part(`name="import_file"; filename="${file_name}"`)}`,
    tail: `\r\n--${boundary}--\r\n`,
  };
}

/** The response as text, whenever it comes. */
const responseTo = (req: ClientRequest, url: string) =>
  new Promise<{ status: number; text: string }>((done, fail) => {
    req.once('error', (error: NodeJS.ErrnoException) => {
      const is_down = error.code === 'ECONNREFUSED';
      fail(is_down ? new Error(`No service answers at ${url}. Start it with: npm start`) : error);
    });
    req.once('response', (res) => {
      let text = '';
      res
        .setEncoding('utf8')
        .on('data', (piece) => (text += piece))
        .on('end', () => done({ status: res.statusCode!, text }))
        .on('error', fail);
    });
  });
