import type { Request } from 'express';
import { BASE_PATH, contract, type Operation } from '../../platform/contract/contract';

/** Operations that return lists are those that take `root`. */
export const isList = ({ method, parameters }: Operation): boolean =>
  method === 'get' && parameters.some(({ name }) => name === 'root');

/**
 * `.json` and `.csv` after the path of a list choose its format, as `format` and Accept do. The URL
 * is rewritten with `format`. Belongs at BASE_PATH, before the operations.
 */
export function listFormats(operations = contract.operations): (req: Request) => void {
  const hasCsv = csvByPath(operations);
  return (req) => {
    const [path = '', query = ''] = req.url.split('?', 2);
    const ending = ENDINGS.find((candidate) => path.endsWith(`.${candidate}`));
    if (ending === undefined && !acceptsCsv(req, query)) return;
    const bare = ending === undefined ? path : path.slice(0, -ending.length - 1);
    const csv = hasCsv(bare);
    const format = ending ?? (csv ? 'csv' : undefined);
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (csv === undefined || format === undefined || (format === 'csv' && !csv) || !isRead) return;
    const rest = query.split('&').filter((part) => part && !part.startsWith('format='));
    req.url = `${bare}?${[...rest, ...(csv ? [`format=${format}`] : [])].join('&')}`;
    req.originalUrl = BASE_PATH + req.url;
  };
}

const ENDINGS = ['json', 'csv'] as const;

/** CSV is preferred to JSON. `format` in the query comes before Accept. */
const acceptsCsv = (req: Request, query: string): boolean =>
  req.headers.accept?.includes('text/csv') === true &&
  req.accepts(['application/json', 'text/csv']) === 'text/csv' &&
  !/(?:^|&)format=/.test(query);

/**
 * Creates a test of paths below BASE_PATH: true for a list with a CSV format; undefined where there
 * is no list.
 */
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
