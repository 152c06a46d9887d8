import type { SourceRecord } from './reader';

/** Undefined, or messages for each field. */
export type Faults = Record<string, string[]> | undefined;

/** This installation as a service with this API, in which records are created. */
export interface Target {
  /** The record with an id; undefined if there is none. */
  find(resource: string, id: number): Promise<SourceRecord | undefined>;
  create(resource: string, body: object): Promise<Faults>;
  update(path: string, body: object): Promise<Faults>;
  /** Adds members to a list: all but the wrong ones, or none if the body is refused. */
  add(path: string, body: object): Promise<{ isRefused: boolean; faults: string[] }>;
}
