import type { Deps } from '../deps';
import type { Db } from '../db/tenant';
import type { Finding } from './report';
import type { Source } from './reader';
import type { Target } from './target';

/** What happened to the records of a resource. */
export interface Count {
  read: number;
  moved: number;
  /** Were here already. */
  here: number;
  refused: number;
}
export type Outcome = Exclude<keyof Count, 'read'>;

/** Ids of the records that are here as they are there, by resource: what others may name. */
export type Known = Map<string, Set<number>>;

export interface Context {
  source: Source;
  target: Target;
  db: Db;
  deps: Pick<Deps, 'clock' | 'carrier'>;
  known: Known;
  dry_run: boolean;
  /** Whether schedules and webhooks that are active there are active here. */
  activate: boolean;
  /** Only leads and calls that were created since. */
  since: Date | undefined;
  report: (finding: Finding) => void;
}

/** What positions are kept by: they are of other pages where less is asked for. */
export const sourceKey = ({ source, since }: Pick<Context, 'source' | 'since'>): string =>
  since ? `${source.url} since ${since.toISOString()}` : source.url;

export const remember = (known: Known, resource: string, id: number): void =>
  void (known.get(resource) ?? known.set(resource, new Set()).get(resource)!).add(id);

/** Takes the lines of the report about one record. */
export type Note = (field: string, done: string) => void;

export const noteOn =
  ({ report }: Pick<Context, 'report'>, resource: string, old_id: unknown): Note =>
  (field, done) =>
    report({ resource, old_id: String(old_id ?? '?'), field, done });
