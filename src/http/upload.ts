import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import multer, { diskStorage, MulterError } from 'multer';
import type { Operation } from '../contract';
import { foreignFormat, headOf } from '../imports/text';
import { Refusal } from '../refusal';
import type { Storage } from '../storage';

/** A file that came with a request. It is removed when the request has been answered, unless somebody has moved it away. */
export interface Upload {
  path: string;
  name: string;
  bytes: number;
}

/** Reads a multipart body: fields into req.body, the one file onto the disk. Undefined when no file came. */
export type Uploader = (operation: Operation, req: Request, res: Response) => Promise<Upload | undefined>;

const FIELD = 'import_file';
/** What does not hold a file is kept in memory: little of it. */
const LIMITS = { files: 1, fields: 200, parts: 201, fieldSize: 131_072, fieldNameSize: 100, fieldArrayIndexLimit: 199, fieldNestingDepth: 2 };

export const isMultipart = (req: Request): boolean => /^multipart\/form-data\b/i.test(req.headers['content-type'] ?? '');

export function uploader({ storage, max_upload_bytes }: { storage: Storage; max_upload_bytes: number }): Uploader {
  const disk = diskStorage({ destination: storage.incoming, filename: (_req, _file, done) => done(null, randomUUID()) });
  const parse = multer({ storage: disk, limits: { ...LIMITS, fileSize: max_upload_bytes }, defParamCharset: 'utf8' }).single(FIELD);
  return async (operation, req, res) => {
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > max_upload_bytes + LIMITS.fields * LIMITS.fieldSize) throw tooLarge(max_upload_bytes);
    if (!(await storage.hasRoomFor(announced))) throw noRoom();
    await new Promise<void>((done, fail) => parse(req, res, (error: unknown) => (error ? fail(refusalOf(error, operation, max_upload_bytes)) : done())));
    const upload = req.file && { path: req.file.path, name: nameOf(req.file.originalname), bytes: req.file.size };
    try {
      const { [FIELD]: text, ...body } = req.body as Record<string, unknown>;
      req.body = body;
      // A form in which no file was chosen sends a blank field.
      if (text !== undefined && (text !== '' || upload)) throw Refusal.field(FIELD, 'must be sent as one file: a part with a filename');
      if (upload) await requireCsv(upload);
      return upload;
    } catch (error) {
      if (upload) await rm(upload.path, { force: true });
      throw error;
    }
  };
}

/** What can be known of a file from its first bytes is told at once, rather than by an import that fails. */
async function requireCsv(upload: Upload): Promise<void> {
  if (upload.bytes === 0) throw Refusal.field(FIELD, 'is empty; it must be a CSV file of telephone numbers');
  const format = foreignFormat(await headOf(upload.path));
  if (format) throw Refusal.field(FIELD, `is ${format}. It must be a CSV file, plain or gzip`);
}

const nameOf = (original: string) => (original.split(/[\\/]/).at(-1) ?? '').replaceAll('\0', '').toWellFormed().slice(0, 255) || 'import.csv';

const tooLarge = (bytes: number) => new Refusal(413, `The file is larger than ${bytes} bytes.`);
const noRoom = () => new Refusal(507, 'There is not enough room on the disk for the file. Nothing of it was kept.');

function refusalOf(error: unknown, operation: Operation, max_upload_bytes: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return noRoom();
  if (code === 'LIMIT_FILE_SIZE') return tooLarge(max_upload_bytes);
  if (code === 'LIMIT_UNEXPECTED_FILE' || code === 'LIMIT_FILE_COUNT') {
    const field = (error as MulterError).field ?? FIELD;
    return Refusal.field(field, field === FIELD ? 'must be one file' : `is not a file of ${operation.id}`);
  }
  if (error instanceof MulterError) return new Refusal(413, `The form is larger than the service takes: ${message}.`);
  // What remains is a body that is no form, or one that was cut off.
  if (typeof code !== 'string') return new Refusal(400, `The form cannot be read: ${message}.`);
  return error;
}

/** The SHA-256 of a file, in hexadecimal: what a repeated request is known by. */
export async function digestOf({ path }: Upload): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
