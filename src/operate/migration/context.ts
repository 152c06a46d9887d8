import type { Deps } from '../../domain/deps';
import type { Db } from '../../data/db';
import type { Finding } from './report';
import type { Source } from './reader';
import type { Target } from './target';

export interface Count {
  read: number;
  moved: number;
  /** Existed here already. */
  here: number;
  refused: number;
}
export type Outcome = Exclude<keyof Count, 'read'>;

/**
 * Ids of the records that exist here as they do there, by resource: other records may refer to
 * them.
 */
export type IdsByResource = Map<string, Set<number>>;

export interface Context {
  source: Source;
  target: Target;
  db: Db;
  deps: Pick<Deps, 'clock' | 'carrier'>;
  existingIds: IdsByResource;
  dry_run: boolean;
  /** Keeps schedules and webhooks active here that are active there. */
  activate: boolean;
  /** Only leads and calls created since then. */
  since: Date | undefined;
  report: (finding: Finding) => void;
}

/** Key of saved positions. With `since` the lists are shorter, so their pages differ. */
export const sourceKey = ({ source, since }: Pick<Context, 'source' | 'since'>): string =>
  since ? `${source.url} since ${since.toISOString()}` : source.url;

export const remember = (existingIds: IdsByResource, resource: string, id: number): void =>
  void (existingIds.get(resource) ?? existingIds.set(resource, new Set()).get(resource)!).add(id);

/** Adds a line about one record to the report. */
export type Note = (field: string, done: string) => void;

export const createNote =
  ({ report }: Pick<Context, 'report'>, resource: string, oldId: unknown): Note =>
  (field, done) =>
    report({ resource, old_id: String(oldId ?? '?'), field, done });
