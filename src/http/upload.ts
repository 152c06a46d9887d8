import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import multer, { diskStorage, MulterError } from 'multer';
import { facets, type Operation } from '../contract';
import { HttpProblem } from '../errors';
import type { Storage } from '../storage/directory';
import { foreignFormat, headOf } from '../storage/file-format';

/** A file that came with a request. It is removed when the request has been answered, unless somebody has moved it away. */
export interface Upload {
  path: string;
  name: string;
  bytes: number;
}

/** Reads a multipart body: fields into req.body, the one file, where the operation takes one, onto the disk. Undefined when no file came. */
export type Uploader = (
  operation: Operation,
  req: Request,
  res: Response,
) => Promise<Upload | undefined>;

/** What does not hold a file is kept in memory: little of it. */
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

interface UploaderOptions {
  storage: Storage;
  max_upload_bytes: number;
  max_body_bytes: number;
}

export function uploader({ storage, max_upload_bytes, max_body_bytes }: UploaderOptions): Uploader {
  const disk = diskStorage({
    destination: storage.incoming,
    filename: (_req, _file, done) => done(null, randomUUID()),
  });
  const form = multer({
    storage: disk,
    limits: { ...LIMITS, fileSize: max_upload_bytes },
    defParamCharset: 'utf8',
  });
  return async (operation, req, res) => {
    const field = fileField(operation);
    const parse = field ? form.single(field) : form.none();
    const announced = Number(req.headers['content-length'] ?? 0);
    // A form without a file is kept in memory, and needs no credentials to be read: it says how long it is.
    if (!field && !(announced > 0 && announced <= max_body_bytes))
      throw new HttpProblem(
        413,
        `The body is larger than ${max_body_bytes} bytes, or does not say how large it is.`,
      );
    if (announced > max_upload_bytes + LIMITS.fields * LIMITS.fieldSize)
      throw tooLarge(max_upload_bytes);
    if (field && !(await storage.hasRoomFor(announced))) throw noRoom();
    await new Promise<void>((done, fail) =>
      parse(req, res, (error: unknown) =>
        error ? fail(refusalOf(error, operation, max_upload_bytes)) : done(),
      ),
    );
    const upload = req.file && {
      path: req.file.path,
      name: nameOf(req.file.originalname),
      bytes: req.file.size,
    };
    try {
      if (!field) return undefined;
      const { [field]: text, ...body } = req.body as Record<string, unknown>;
      req.body = body;
      // A form in which no file was chosen sends a blank field.
      if (text !== undefined && (text !== '' || upload))
        throw HttpProblem.field(field, 'must be sent as one file: a part with a filename');
      if (upload) await requireCsv(upload, field);
      return upload;
    } catch (error) {
      if (upload) await rm(upload.path, { force: true });
      throw error;
    }
  };
}

/** The field of a form that is a file. */
function fileField({ multipart }: Operation): string | undefined {
  const properties = Object.entries(multipart ? facets(multipart).properties : {});
  return properties.find(([, schema]) => facets(schema).formats.has('binary'))?.[0];
}

/** What can be known of a file from its first bytes is told at once, rather than by an import that fails. */
async function requireCsv(upload: Upload, field: string): Promise<void> {
  if (upload.bytes === 0)
    throw HttpProblem.field(field, 'is empty; it must be a CSV file of telephone numbers');
  const format = foreignFormat(await headOf(upload.path));
  if (format) throw HttpProblem.field(field, `is ${format}. It must be a CSV file, plain or gzip`);
}

const nameOf = (original: string) =>
  (original.split(/[\\/]/).at(-1) ?? '').replaceAll('\0', '').toWellFormed().slice(0, 255) ||
  'import.csv';

const tooLarge = (bytes: number) => new HttpProblem(413, `The file is larger than ${bytes} bytes.`);
const noRoom = () =>
  new HttpProblem(
    507,
    'There is not enough room on the disk for the file. Nothing of it was kept.',
  );

function refusalOf(error: unknown, operation: Operation, max_upload_bytes: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return noRoom();
  if (code === 'LIMIT_FILE_SIZE') return tooLarge(max_upload_bytes);
  if (code === 'LIMIT_UNEXPECTED_FILE' || code === 'LIMIT_FILE_COUNT') {
    const field = (error as MulterError).field ?? 'body';
    return HttpProblem.field(
      field,
      field === fileField(operation) ? 'must be one file' : `is not a file of ${operation.id}`,
    );
  }
  if (error instanceof MulterError)
    return new HttpProblem(413, `The form is larger than the service takes: ${message}.`);
  // What remains is a body that is no form, or one that was cut off.
  if (typeof code !== 'string') return new HttpProblem(400, `The form cannot be read: ${message}.`);
  return error;
}

/** The SHA-256 of a file, in hexadecimal: what a repeated request is known by. */
export async function digestOf({ path }: Upload): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
