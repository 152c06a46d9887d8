import { randomUUID } from 'node:crypto';
import { STORAGE_MARK } from './storage';

const FILE_KEY = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const createFileKey = (): string => randomUUID();

export const isFileKey = (key: string): boolean => FILE_KEY.test(key);

export const isStorageKey = (key: string): boolean => isFileKey(key) || key === STORAGE_MARK;

/**
 * Returns a key that is to become part of a path or of the name of an object. Throws for any other
 * text: rows and archives that others have written contain keys too.
 */
export function requireStorageKey(key: string): string {
  if (!isStorageKey(key)) throw new Error(`${JSON.stringify(key)} is no key of a stored file`);
  return key;
}
