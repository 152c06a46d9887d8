import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import multer, { MulterError } from 'multer';
import { facets, type Operation } from '../../platform/contract/contract';
import { HttpProblem } from '../../platform/errors';
import { expectFile, type BodyTimeouts } from './body-timeout';
import { bodyLimit } from './read-body';
import type { Storage } from '../../platform/storage/storage';
import { cutText } from '../../platform/storable-text';
import {
  findAudioType,
  foreignFormat,
  readHead,
  type AudioType,
} from '../../platform/storage/file-format';
import { createFileKey } from '../../platform/storage/keys';
import { fileTooLarge, noSpace, saveBody, uploadDisk } from './upload-disk';

/** A file that came with a request. It is deleted after the reply. */
export interface Upload {
  path: string;
  name: string;
  bytes: number;
  /** The type of audio, by its content; absent for other files. */
  media_type?: AudioType;
  /** The key in the storage, and whether a record refers to it. */
  storedFile?: { key: string; is_used: boolean };
}

/**
 * Stores an upload, before any transaction: a bucket may take long. If the process ends before a
 * record refers to it, housekeeping removes it.
 */
export async function storeUpload(storage: Storage, upload: Upload): Promise<void> {
  const key = createFileKey();
  await storage.keep(upload.path, key);
  upload.storedFile = { key, is_used: false };
}

/** Deletes the file of a request, unless a record may refer to it now. */
export async function discardUpload(storage: Storage, { path, storedFile }: Upload): Promise<void> {
  // Housekeeping removes a file that cannot be removed now.
  if (storedFile && !storedFile.is_used)
    await storage.remove(storedFile.key).catch(() => undefined);
  await rm(path, { force: true });
}

/**
 * Reads a multipart body: fields into req.body, the file, if the operation takes one, onto the
 * disk. Returns undefined when no file came.
 */
export type Uploader = (
  operation: Operation,
  req: Request,
  res: Response,
  isKnown: boolean,
) => Promise<Upload | undefined>;

/** Fields are kept in memory. */
const LIMITS = {
  files: 1,
  fields: 300,
  parts: 301,
  fieldSize: 131_072,
  fieldNameSize: 200,
  fieldArrayIndexLimit: 199,
  fieldNestingDepth: 2,
};

export const isMultipart = (req: Request): boolean =>
  /^multipart\/form-data\b/i.test(req.headers['content-type'] ?? '');

/** Types that may be audio; what it is is found out by its content. */
const BARE_FILE = /^\s*(audio\/|application\/(ogg|octet-stream)\b|$)/i;

/** A file that is the body itself, such as `curl -T` and switches send it. */
export const isBareFile = ({ takes_bare_file }: Operation, { headers }: Request): boolean =>
  takes_bare_file && BARE_FILE.test(headers['content-type'] ?? '');

interface UploaderOptions {
  storage: Storage;
  max_upload_bytes: number;
  max_body_bytes: number;
  timeouts: BodyTimeouts;
}

export function uploader(options: UploaderOptions): Uploader {
  const { storage, max_upload_bytes } = options;
  const form = multer({
    storage: uploadDisk(storage),
    limits: { ...LIMITS, fileSize: max_upload_bytes },
    defParamCharset: 'utf8',
  });
  return async (operation, req, res, isKnown) => {
    const isForm = isMultipart(req);
    if (isForm) requireBoundary(req);
    const field = fileField(operation);
    const announced = Number(req.headers['content-length'] ?? 0);
    if (!field) requireSmall(announced, bodyLimit(isKnown, options.max_body_bytes));
    if (announced > max_upload_bytes + LIMITS.fields * LIMITS.fieldSize)
      throw fileTooLarge(max_upload_bytes);
    if (field && !(await storage.hasRoomFor(announced))) throw noSpace();
    if (field) expectFile(req, options.timeouts);
    if (field && !isForm) return takeBody(req, field, options);
    const parse = field ? form.single(field) : form.none();
    await new Promise<void>((done, fail) =>
      parse(req, res, (error: unknown) =>
        error ? fail(toProblem(error, operation, max_upload_bytes)) : done(),
      ),
    );
    return field ? takeFile(operation, req, field) : undefined;
  };
}

/** Without a boundary, a form would be read as one without fields. */
function requireBoundary({ headers }: Request): void {
  if (/;\s*boundary\s*=\s*("[^"]+"|[^\s";]+)/i.test(headers['content-type'] ?? '')) return;
  throw new HttpProblem(
    'malformed_body',
    'The form cannot be read: its Content-Type must say the boundary of its parts.',
  );
}

/** A form without a file is read into memory, before the credentials: it must say its length. */
function requireSmall(announced: number, limit: number): void {
  if (announced > 0 && announced <= limit) return;
  throw new HttpProblem(
    'body_too_large',
    `The body is larger than ${limit} bytes, or does not say how large it is.`,
  );
}

/** The body as the file of a field, as if it were the only part of a form. */
async function takeBody(
  req: Request,
  field: string,
  { storage, max_upload_bytes }: UploaderOptions,
): Promise<Upload> {
  const saved = await saveBody(req, storage, max_upload_bytes).catch((error: unknown) => {
    throw toStorageProblem(error) ?? error;
  });
  const upload = { ...saved, name: field };
  try {
    await requireAudio(upload, field);
  } catch (error) {
    await rm(upload.path, { force: true });
    throw error;
  }
  [req.body, req.body_type] = [{}, 'multipart/form-data'];
  return upload;
}

/** The uploaded file of a field, if there is one and it can be used; otherwise it is deleted. */
async function takeFile(
  { takes_bare_file }: Operation,
  req: Request,
  field: string,
): Promise<Upload | undefined> {
  const { file } = req;
  const upload = file && { path: file.path, name: toFileName(file.originalname), bytes: file.size };
  try {
    const { [field]: text, ...body } = (req.body ?? {}) as Record<string, unknown>;
    req.body = body;
    // A browser sends a blank field when no file was chosen.
    if (text !== undefined && (text !== '' || upload))
      throw HttpProblem.field(
        field,
        'invalid_file',
        'must be sent as one file: a part with a filename',
      );
    if (upload) await (takes_bare_file ? requireAudio : requireCsv)(upload, field);
    return upload;
  } catch (error) {
    if (upload) await rm(upload.path, { force: true });
    throw error;
  }
}

function fileField({ multipart }: Operation): string | undefined {
  const properties = Object.entries(multipart ? facets(multipart).properties : {});
  return properties.find(([, schema]) => facets(schema).formats.has('binary'))?.[0];
}

/** Refuses a file whose first bytes are not CSV at once: its import would fail. */
async function requireCsv(upload: Upload, field: string): Promise<void> {
  if (upload.bytes === 0)
    throw HttpProblem.field(field, 'invalid_file', 'is empty; it must be a CSV file');
  const format = foreignFormat(await readHead(upload.path));
  if (format)
    throw HttpProblem.field(
      field,
      'invalid_file',
      `is ${format}. It must be a CSV file, plain or gzip`,
    );
}

/** Refuses a file that is no audio by its first bytes, and notes which it is. */
async function requireAudio(upload: Upload, field: string): Promise<void> {
  const mediaType = findAudioType(await readHead(upload.path));
  if (!mediaType)
    throw HttpProblem.field(
      field,
      'invalid_file',
      `${upload.bytes === 0 ? 'is empty' : 'is no audio'}; it must be WAV, MP3 or Ogg`,
    );
  upload.media_type = mediaType;
}

const toFileName = (original: string) =>
  cutText(original.split(/[\\/]/).at(-1) ?? '', 255) || 'import.csv';

function toProblem(error: unknown, operation: Operation, maxUploadBytes: number): unknown {
  if (error instanceof HttpProblem) return error;
  const storageProblem = toStorageProblem(error);
  if (storageProblem) return storageProblem;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'LIMIT_FILE_SIZE') return fileTooLarge(maxUploadBytes);
  if (code === 'LIMIT_UNEXPECTED_FILE' || code === 'LIMIT_FILE_COUNT') {
    const field = (error as MulterError).field ?? 'body';
    return field === fileField(operation)
      ? HttpProblem.field(field, 'invalid_file', 'must be one file')
      : HttpProblem.field(field, 'unknown_field', `is not a file field of ${operation.id}`);
  }
  if (code === 'MISSING_FIELD_NAME')
    return new HttpProblem('malformed_body', 'The form cannot be read: a part has no name.');
  if (error instanceof MulterError)
    return new HttpProblem('body_too_large', `The form is too large: ${message}.`);
  // Otherwise the body is not a form, or was cut off.
  if (typeof code !== 'string')
    return new HttpProblem('malformed_body', `The form cannot be read: ${message}.`);
  return error;
}

/** A problem of the disk, or of a body that was cut off. */
function toStorageProblem(error: unknown): HttpProblem | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return noSpace();
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new HttpProblem('malformed_body', 'The connection ended before the body was read.');
  return undefined;
}

/** The SHA-256 of a file, in hexadecimal, by which a repeated request is recognized. */
export async function digestFile({ path }: Upload): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
