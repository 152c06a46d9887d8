import type { Request, RequestHandler } from 'express';
import { BASE_PATH, contract, type Operation } from '../contract';

/** Operations that return lists are those that take `root`. */
export const isList = ({ method, parameters }: Operation): boolean =>
  method === 'get' && parameters.some(({ name }) => name === 'root');

/**
 * `.json` and `.csv` after the path of a list choose its format, as `format` and Accept do. The URL
 * is rewritten with `format`. Belongs at BASE_PATH, before the operations.
 */
export function listFormats(operations = contract.operations): RequestHandler {
  const csvOf = csvByPath(operations);
  return (req, _res, next) => {
    const [path = '', query = ''] = req.url.split('?', 2);
    const [, bare = path, ending] = /^(.*)\.(json|csv)$/.exec(path) ?? [];
    if (ending === undefined && !acceptsCsv(req, query)) return next();
    const csv = csvOf(bare);
    const format = ending ?? (csv ? 'csv' : undefined);
    const is_read = req.method === 'GET' || req.method === 'HEAD';
    if (csv === undefined || format === undefined || (format === 'csv' && !csv) || !is_read)
      return next();
    const rest = query.split('&').filter((part) => part && !part.startsWith('format='));
    req.url = `${bare}?${[...rest, ...(csv ? [`format=${format}`] : [])].join('&')}`;
    req.originalUrl = BASE_PATH + req.url;
    next();
  };
}

/** Whether CSV is preferred to JSON. `format` in the query comes before Accept. */
const acceptsCsv = (req: Request, query: string): boolean =>
  req.headers.accept?.includes('text/csv') === true &&
  req.accepts(['application/json', 'text/csv']) === 'text/csv' &&
  !/(?:^|&)format=/.test(query);

/** Whether the list at a path below BASE_PATH has a CSV format; undefined if there is no list. */
function csvByPath(operations: readonly Operation[]): (path: string) => boolean | undefined {
  const lists = operations
    .filter(isList)
    .map(({ path, csv }) => ({ path: path.slice(BASE_PATH.length), csv }));
  const fixed = new Map(lists.map(({ path, csv }) => [path, csv]));
  const nested = lists
    .filter(({ path }) => path.includes('{'))
    .map(({ path, csv }) => ({
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      csv,
    }));
  return (path) => fixed.get(path) ?? nested.find(({ pattern }) => pattern.test(path))?.csv;
}
