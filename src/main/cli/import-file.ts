import { createReadStream, statSync } from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { basename } from 'node:path';
import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { BASE_PATH, type Schemas } from '../../platform/contract/contract';
import { readAnswer, toUnreachableError, type Service } from './service';

export interface ImportCommand {
  service: Service;
  list: string;
  file: string;
  apply_block_or_unblock: 'block' | 'unblock';
  caller_id_column_name?: string;
  /** Called with the current step and its progress from 0 to 1. */
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
    const { url, authorization } = command.service;
    const res = await fetch(`${url}${file.routes_show_path}`, {
      headers: { Authorization: authorization },
    }).catch(() => undefined);
    if (!res || res.status >= 500) continue;
    file = read(res.status, await res.text());
    command.progress('import', (file.import_percent ?? 0) / 100, file);
  }
  return file;
}

const read = (status: number, text: string): Schemas['BuyerSuppressionFile'] =>
  readAnswer<Schemas['BuyerSuppressionFileReply']>(status, text).buyer_suppression_file;

/** Sends the form in pieces: a file of any size needs little memory, and progress is visible. */
async function upload(command: ImportCommand): Promise<Schemas['BuyerSuppressionFile']> {
  const { file, progress } = command;
  const { url, authorization } = command.service;
  const boundary = `trunkline-${randomUUID()}`;
  const { head, tail } = buildForm(command, boundary);
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
  const response = readResponse(req, url);
  let sentBytes = 0;
  const pieces = async function* () {
    yield head;
    for await (const piece of createReadStream(file)) {
      yield piece;
      progress('upload', (sentBytes += (piece as Buffer).length) / bytes);
    }
    yield tail;
  };
  // The service may refuse before everything is sent; then its response counts.
  pipeline(pieces, req).catch(() => undefined);
  const { status, text } = await response;
  return read(status, text);
}

function buildForm(
  { list, file, apply_block_or_unblock, caller_id_column_name }: ImportCommand,
  boundary: string,
): { head: string; tail: string } {
  const part = (headers: string, body = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${body}`;
  const fields = { buyer_suppression_id: list, apply_block_or_unblock, caller_id_column_name };
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${part(`name="${name}"`, value)}\r\n`],
  );
  const fileName = basename(file).replace(/["\r\n]/g, '_');
  return {
    head: `${texts.join('')}${part(`name="import_file"; filename="${fileName}"`)}`,
    tail: `\r\n--${boundary}--\r\n`,
  };
}

const readResponse = (req: ClientRequest, url: string) =>
  new Promise<{ status: number; text: string }>((done, fail) => {
    req.once('error', (error) => fail(toUnreachableError(url, error)));
    req.once('response', (res) => {
      let text = '';
      res
        .setEncoding('utf8')
        .on('data', (piece) => (text += piece))
        .on('end', () => done({ status: res.statusCode!, text }))
        .on('error', fail);
    });
  });
