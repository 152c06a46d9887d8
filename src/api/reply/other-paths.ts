import type { Request } from 'express';
import {
  BASE_PATH,
  buildPathPattern,
  contract,
  type Operation,
} from '../../platform/contract/contract';
import { isList } from '../records/list-formats';

/** Paths that clients may use instead of those of the contract. */
export const OTHER_PATHS = Object.entries(contract.document.paths).flatMap(
  ([path, { 'x-other-paths': aliases = [] }]) => aliases.map((alias) => ({ alias, path })),
);

const rules = OTHER_PATHS.map(({ alias, path }) => ({
  pattern: new RegExp(`^${alias.replace(/\{(\w+)\}/g, '(?<$1>[^/.]+)')}(?=[/.]|$)`),
  path: path.replace(/\{(\w+)\}/g, '$<$1>'),
}));

/** The contract's path for one below BASE_PATH that may have another name. */
export const resolveOtherPath = (path: string): string =>
  rules.reduce((result, rule) => result.replace(rule.pattern, rule.path), path);

/**
 * Rewrites the other spellings of a path to that of the contract: a name of `x-other-paths`, and
 * `.json` at the end of every path that has answers in JSON. That of a list also chooses its
 * format, and is left to listFormats, which follows. Belongs at BASE_PATH.
 */
export function otherPaths(operations = contract.operations): (req: Request) => void {
  const hasJson = jsonPaths(operations);
  return (req) => {
    const at = req.url.indexOf('?');
    const [path, query] = at < 0 ? [req.url, ''] : [req.url.slice(0, at), req.url.slice(at)];
    const renamed = resolveOtherPath(path);
    const bare = renamed.endsWith('.json') && hasJson(req.method, renamed.slice(0, -5));
    const finalPath = bare ? renamed.slice(0, -5) : renamed;
    if (finalPath !== path) {
      req.url = finalPath + query;
      req.originalUrl = BASE_PATH + req.url;
    }
  };
}

/**
 * Creates a test of paths below BASE_PATH: true for an operation that answers in JSON and is no
 * list.
 */
function jsonPaths(operations: readonly Operation[]): (method: string, path: string) => boolean {
  const jsonOperations = operations.filter(answersJson).map((operation) => ({
    pattern: buildPathPattern(operation.path),
    is_list: isList(operation),
  }));
  return (method, path) => {
    const matches = jsonOperations.filter(({ pattern }) => pattern.test(path));
    const isRead = method === 'GET' || method === 'HEAD';
    return matches.length > 0 && !(isRead && matches.some(({ is_list }) => is_list));
  };
}

/** Files, streams and answers to carriers have no other format. */
export function answersJson({ responses, status }: Operation): boolean {
  const success = responses[String(status)];
  const { content } = success ? contract.resolve(success) : {};
  return content !== undefined && 'application/json' in content;
}
