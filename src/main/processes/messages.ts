import type { MetricSnapshot } from '../../api/metrics';

// Messages between the processes of one server, over the channel of node:cluster.

/** The task of a process: answering requests, or running the background jobs. */
export type Role = 'web' | 'jobs';

/** Values that a process needs and cannot read from the environment. */
export interface Start {
  role: Role;
  database_url: string;
  pepper: string;
  storage_mark: string | undefined;
}

export type ToChild =
  | { kind: 'start'; start: Start }
  | { kind: 'stop' }
  /** Another process has replaced it: it ends once its clients have left. */
  | { kind: 'retire' }
  | { kind: 'measure'; id: number }
  | { kind: 'sum'; id: number; page: string };

export type ToPrimary =
  | { kind: 'ready' }
  | { kind: 'measured'; id: number; measured: MetricSnapshot }
  | { kind: 'sum_request'; id: number };
