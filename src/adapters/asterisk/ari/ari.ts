// The REST interface of Asterisk and its events, however they are reached.

export interface AriRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below /ari, such as /channels. */
  path: string;
  query?: Record<string, string>;
  body?: object;
}

/** Asterisk does not do it: there is no such channel, say. */
export class AriFault extends Error {
  constructor(
    readonly status: number,
    { method, path }: AriRequest,
    message: string,
  ) {
    super(`Asterisk answered ${status} to ${method} ${path}: ${message}`);
  }
}

export interface Channel {
  id: string;
  name: string;
  state: string;
  caller: { number: string };
  dialplan: { context?: string; exten: string; app_name?: string; app_data?: string };
  creationtime: string;
}

export interface Bridge {
  id: string;
  channels: string[];
  creationtime: string;
}

/** Events that are used, with what is read of them. */
export interface AriEvent {
  type: string;
  /** When it happened. */
  timestamp?: string;
  args?: string[];
  channel?: Channel;
  digit?: string;
  cause?: number;
  tech_cause?: number;
  playback?: { id: string; target_uri: string };
  recording?: { name: string; target_uri: string; state: string };
}

export interface Ari {
  /** Throws AriFault, or another error if there is no answer. */
  ask<Answer>(request: AriRequest): Promise<Answer>;
}

/** A connection that receives events; it is lost at some time. */
export interface AriConnection extends Ari {
  /** Resolves when it is lost. */
  lost: Promise<void>;
  onEvent(listener: (event: AriEvent) => void): void;
  close(): void;
}

/** Resolves to the next connection; rejects with the signal. */
export type Connect = (signal: AbortSignal) => Promise<AriConnection>;

export const buildPath = ({ path, query }: AriRequest): string =>
  query && Object.keys(query).length > 0 ? `${path}?${new URLSearchParams(query)}` : path;

export const TIMEOUT_MS = 5_000;

/** The application in Asterisk, as the dialplan names it. */
export const APP = 'trunkline';
