import { type Data } from '../../src/platform/tokens/lead-data';

/** Parses JSON like that of a request: a key `__proto__` is a key like any other. */
export const parseData = (json: string) => JSON.parse(json) as Data;
export const names = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, n]));
/** A value so many levels deep. */
export const buildNested = (levels: number, inside: unknown = 1) =>
  parseData('{"a":'.repeat(levels) + JSON.stringify(inside) + '}'.repeat(levels));
export const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype);
export const checkUntouched = () =>
  expect([Object.getOwnPropertyNames(Object.prototype), ({} as Data).polluted]).toEqual([
    PROTOTYPE_NAMES,
    undefined,
  ]);

/** Checks after each test that no prototype was changed. */
export function checkPrototype(): void {
  afterEach(checkUntouched);
}
