// Permissions as a matrix: a row for each noun, a column for each verb. Nothing here draws.

/** The usual verbs, in the order of their columns; rarer ones follow. */
const VERBS = ['read', 'create', 'update', 'delete'] as const;

export interface PermissionMatrix {
  verbs: readonly string[];
  rows: readonly PermissionRow[];
}

export interface PermissionRow {
  noun: string;
  /** By verb, the permission that the contract has for the noun. */
  scopes: Readonly<Record<string, string>>;
}

/** Orders the permissions of the contract by noun and verb. */
export function toMatrix(scopes: readonly string[]): PermissionMatrix {
  const rows = new Map<string, Record<string, string>>();
  for (const scope of scopes) {
    const [noun, verb] = split(scope);
    rows.set(noun, { ...rows.get(noun), [verb]: scope });
  }
  const verbs = [...new Set([...VERBS, ...scopes.map((scope) => split(scope)[1])])];
  return { verbs, rows: [...rows].map(([noun, row]) => ({ noun, scopes: row })) };
}

const OWNERS_NOUNS = ['company', 'company_wide', 'users', 'access_control_lists', 'access_tokens'];
const MONEY_NOUNS = ['account_entries', 'statements'];
const split = (scope: string): [noun: string, verb: string] => scope.split(':') as [string, string];
const isReading = (scope: string): boolean => split(scope)[1] === 'read';

export interface Role {
  title: string;
  about: string;
  has: (scope: string) => boolean;
}

/** Ready sets of permissions, by the work of those who have them. */
export const ROLES: readonly Role[] = [
  {
    title: 'Manager',
    about: 'runs the day, prices included, but not users, teams, keys and the company',
    has: (scope) => isReading(scope) || !OWNERS_NOUNS.includes(split(scope)[0]),
  },
  {
    title: 'Accountant',
    about: 'reads everything, makes entries and statements, and returns calls',
    has: (scope) =>
      isReading(scope) ||
      MONEY_NOUNS.includes(split(scope)[0]) ||
      ['calls:update', 'calls:money'].includes(scope),
  },
  { title: 'Viewer', about: 'reads everything', has: isReading },
];

/** Adds or takes away permissions, in the order of the contract. */
export function setPermissions(
  all: readonly string[],
  chosen: readonly string[],
  scopes: readonly string[],
  isGranted: boolean,
): string[] {
  const next = new Set(chosen);
  for (const scope of scopes)
    if (isGranted) next.add(scope);
    else next.delete(scope);
  return all.filter((scope) => next.has(scope));
}

/** `all`, `some` or `none` of the permissions are chosen. */
export function countChosen(
  chosen: readonly string[],
  scopes: readonly string[],
): 'all' | 'some' | 'none' {
  const count = scopes.filter((scope) => chosen.includes(scope)).length;
  if (count === 0) return 'none';
  return count === scopes.length ? 'all' : 'some';
}
