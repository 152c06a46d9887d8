import type { Readable } from 'node:stream';

/**
 * JSON as PostgreSQL wrote it, passed on untouched; or a large one in parts, which are sent without
 * making one text of them first. T is the contract's type of it.
 */
export class Json<T = unknown> {
  declare protected readonly type?: T;
  constructor(
    readonly parts: string | readonly string[],
    readonly headers: Record<string, string> = {},
    /** Set where the contract declares several. */
    readonly status?: number,
  ) {}

  get text(): string {
    return typeof this.parts === 'string' ? this.parts : this.parts.join('');
  }
}

export class Twiml {
  constructor(readonly text: string) {}
}

export class Csv {
  readonly media_type = 'text/csv';
  constructor(
    readonly stream: Readable,
    readonly file_name: string,
  ) {}
}

/** 304: the caller has the current state. */
export class NotModified {
  constructor(readonly headers: Record<string, string>) {}
}

/**
 * Server-sent events, until there are no more or the reader is gone. `events` may throw a problem,
 * which is sent instead; the signal is aborted when the response ends for any reason.
 */
export class EventStream {
  constructor(readonly events: (readerGone: AbortSignal) => AsyncIterable<string>) {}
}

export class Download {
  constructor(
    readonly stream: Readable,
    readonly file_name: string,
    readonly bytes: number,
    readonly media_type = 'application/octet-stream',
  ) {}
}
