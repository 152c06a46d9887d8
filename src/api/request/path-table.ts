// Finds what belongs to a path, for paths of the contract: `/buyers/new`, `/buyers/{id}`.

export interface PathMatch<T> {
  value: T;
  /** By name, decoded. */
  params: Record<string, string>;
}

interface Pattern<T> {
  value: T;
  segments: readonly string[];
  /** Names of the segments that are parameters, by index; undefined for fixed segments. */
  names: readonly (string | undefined)[];
}

/**
 * Finds the value of a path, as Express would: upper and lower case differ, slashes may follow, and
 * a fixed path comes before a parameter that would match it. Throws a URIError for a parameter that
 * cannot be decoded. Paths without parameters are looked up, others compared with the few that have
 * the same first segment and the same length: a walk through Express's routers takes longer the
 * more routes there are.
 */
export function pathTable<T>(
  paths: readonly (readonly [path: string, value: T])[],
): (path: string) => PathMatch<T> | undefined {
  const fixed = new Map(paths.filter(([path]) => !path.includes('{')));
  const patterns = new Map<string, Pattern<T>[]>();
  const ordered = paths
    .filter(([path]) => path.includes('{'))
    .toSorted(([a], [b]) => (sortable(a) < sortable(b) ? -1 : 1));
  for (const [path, value] of ordered) {
    const segments = path.split('/');
    const names = segments.map((segment) => /^\{(\w+)\}$/.exec(segment)?.[1]);
    const key = buildKey(segments);
    patterns.set(key, [...(patterns.get(key) ?? []), { value, segments, names }]);
  }
  return (path) => {
    let end = path.length;
    while (path[end - 1] === '/') end--;
    const bare = path.slice(0, end);
    const value = fixed.get(bare);
    if (value !== undefined) return { value, params: {} };
    const segments = bare.split('/');
    const match = patterns.get(buildKey(segments))?.find((pattern) => matches(pattern, segments));
    return match && { value: match.value, params: decodeParams(match, segments) };
  };
}

const sortable = (path: string) => path.replaceAll('{', '~');

const buildKey = (segments: readonly string[]): string => `${segments[1]}/${segments.length}`;

function matches(
  { segments: expected, names }: Pattern<unknown>,
  segments: readonly string[],
): boolean {
  for (let at = 0; at < segments.length; at++)
    if (names[at] === undefined ? segments[at] !== expected[at] : segments[at] === '') return false;
  return true;
}

function decodeParams(
  { names }: Pattern<unknown>,
  segments: readonly string[],
): Record<string, string> {
  const params: Record<string, string> = {};
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    if (name !== undefined) params[name] = decodeURIComponent(segments[at]!);
  }
  return params;
}
