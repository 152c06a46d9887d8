import { createReadStream, statSync } from 'node:fs';
import { request } from 'node:http';
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
  /** Hears how far it is: which part, and how much of it is done, from 0 to 1. */
  progress: (
    part: 'upload' | 'import',
    done: number,
    record?: Schemas['BuyerSuppressionFile'],
  ) => void;
}

const LOOK_MS = 200;

/** Uploads a file to a suppression list through the API and waits until it is imported; answers the file's record. Throws what the API refuses with. */
export async function importFile(command: ImportCommand): Promise<Schemas['BuyerSuppressionFile']> {
  let file = await upload(command);
  while (file.status === 'pending' || file.status === 'running') {
    await setTimeout(LOOK_MS);
    // The import goes on while the service is started anew.
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

/** Sends the form piece by piece, so that a file of any size passes through little memory and its progress is seen. */
async function upload({
  url,
  authorization,
  list,
  file,
  progress,
  ...fields
}: ImportCommand): Promise<Schemas['BuyerSuppressionFile']> {
  const boundary = `trunkline-${randomUUID()}`;
  const part = (headers: string, body = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${body}`;
  const texts = Object.entries({ buyer_suppression_id: list, ...fields }).filter(
    ([, value]) => value !== undefined,
  );
  const name = basename(file).replace(/["\r\n]/g, '_');
  const head =
    texts.map(([key, value]) => `${part(`name="${key}"`, value)}\r\n`).join('') +
    part(`name="import_file"; filename="${name}"`);
  const tail = `\r\n--${boundary}--\r\n`;
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
  const answered = new Promise<{ status: number; text: string }>((done, fail) => {
    req
      .once('error', (error: NodeJS.ErrnoException) =>
        fail(
          error.code === 'ECONNREFUSED'
            ? new Error(`No service answers at ${url}. Start it with: npm start`)
            : error,
        ),
      )
      .once('response', (res) => {
        let text = '';
        res
          .setEncoding('utf8')
          .on('data', (piece) => (text += piece))
          .on('end', () => done({ status: res.statusCode!, text }))
          .on('error', fail);
      });
  });
  let sent = 0;
  const pieces = async function* () {
    yield head;
    for await (const piece of createReadStream(file)) {
      yield piece;
      progress('upload', (sent += (piece as Buffer).length) / bytes);
    }
    yield tail;
  };
  // A refusal may come before all is sent; then it is what counts.
  pipeline(pieces, req).catch(() => undefined);
  const { status, text } = await answered;
  return read(status, text);
}
