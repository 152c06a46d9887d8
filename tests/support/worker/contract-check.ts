import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2020';
import type { Response } from 'supertest';
import { toExactContract, findListReference } from '../../../scripts/exact-contract';
import {
  BASE_PATH,
  contract,
  type Operation,
  type Schema,
} from '../../../src/platform/contract/contract';
import type { OtherAnswer } from '../../../src/platform/contract/contract-document';
import { resolveOtherPath } from '../../../src/api/reply/other-paths';

export const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema({ ...toExactContract(contract.document), $id: 'contract' });

const buildPattern = ({ path, csv }: Operation): RegExp => {
  const ending = csv ? '(\\.json|\\.csv)?' : '(\\.json)?';
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}${ending}/?$`);
};

const routes = contract.operations
  .toSorted((a, b) => (a.path.replaceAll('{', '~') < b.path.replaceAll('{', '~') ? -1 : 1))
  .map((operation) => ({
    operation,
    pattern: buildPattern(operation),
  }));

export function findOperation(method: string, url: string): Operation | undefined {
  const path = BASE_PATH + resolveOtherPath((url.split('?')[0] ?? '').slice(BASE_PATH.length));
  return routes.find(
    ({ operation, pattern }) => operation.method === method.toLowerCase() && pattern.test(path),
  )?.operation;
}

const findSchema = (operation: Operation, status: string, media: string): string | undefined => {
  const raw = operation.responses[status];
  const response =
    raw && (contract.resolve(raw) as { content?: Record<string, { schema?: { $ref?: string } }> });
  return response?.content?.[media]?.schema?.$ref;
};

/** True if the contract promises no more than a text of its kind. */
function isOpaque(operation: Operation, status: string, media: string): boolean {
  const declared = media.startsWith('audio/') ? 'audio/*' : media;
  return (
    ['application/octet-stream', 'text/xml', 'text/event-stream', 'audio/*'].includes(declared) &&
    declared in (operation.responses[status]?.content ?? {})
  );
}

/** The answers of an operation that the values of parameters ask for. */
const otherAnswers = ({ parameters }: Operation): OtherAnswer[] =>
  parameters.flatMap(({ 'x-answers': answers = {} }) => Object.values(answers));

/** The schema of the bare rows of a list. */
function bareRows(operation: Operation, $ref: string): string {
  if (!otherAnswers(operation).some(({ rows }) => rows))
    throw new Error(`${operation.id} answered a bare list, which the contract does not promise`);
  return findListReference(contract.document, { $ref }).$ref;
}

const isOtherMedia = (operation: Operation, media: string): boolean =>
  otherAnswers(operation).some(({ media_type, rows }) => media_type === media && !rows);

const recordProduced = (answer: string) =>
  appendFileSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'produced.txt'), `${answer}\n`);

/** Records that some test has produced an error with this code. */
export const recordCode = (code: string): void => recordProduced(`error ${code}`);

/** Throws unless the contract has the status of the response and its body fits the schema. */
export function checkAnswer(method: string, url: string, res: Response): void {
  if (res.type === 'application/problem+json')
    recordCode((JSON.parse(res.text) as { code: string }).code);
  const operation = findOperation(method, url);
  if (!operation || res.status === 405) return;
  if (!res.headers['cache-control']?.startsWith('no-store'))
    throw new Error(`${operation.id} ${res.status} may be stored by caches`);
  const status = String(res.status);
  if (!operation.responses[status])
    throw new Error(
      `${operation.id} answered ${status}, which the contract does not promise: ${res.text}`,
    );
  const media = (res.headers['content-type'] ?? '').split(';')[0] ?? '';
  const ref = findSchema(operation, status, media);
  if (ref) {
    const body: unknown = JSON.parse(res.text);
    const isBare = Array.isArray(body) && contract.resolve<Schema>({ $ref: ref }).type !== 'array';
    const pointer = isBare ? bareRows(operation, ref) : ref;
    const validate = ajv.getSchema(`contract${pointer}`);
    if (!validate) throw new Error(`no schema ${pointer}`);
    if (!validate(body))
      throw new Error(
        `${operation.id} ${status} is not what the contract says: ` +
          `${ajv.errorsText(validate.errors)}\n${res.text.slice(0, 3000)}`,
      );
  } else if (
    status !== '304' &&
    !(status === '200' && isOtherMedia(operation, media)) &&
    !isOpaque(operation, status, media)
  )
    throw new Error(
      `${operation.id} answered ${status} as ${media || 'nothing'}, ` +
        'which the contract does not promise',
    );
  recordProduced(`${operation.id} ${status}`);
}
