import {
  Refused,
  type Command,
  type Service,
  type Session,
} from '../../../src/adapters/service/service';
import { buildSession } from './sessions';

export interface Played {
  /** Answers of the service to events, by the event; others change nothing. */
  answers?: Record<string, Session>;
  /** The service does not answer. */
  is_away?: boolean;
  begins?: () => Session;
  /** A call begins when this has. */
  before_start?: () => Promise<void>;
}

/** A service that a test plays. What `played` says may change while it is used. */
export function playService(played: Played) {
  const posts: { path: string; body: Record<string, unknown> }[] = [];
  const syncs: { boot_id: string; live: string[] }[] = [];
  const commands: Command[] = [];
  let starts = 0;
  const requireService = () => {
    if (played.is_away) throw new Error('no answer');
  };
  const session = () => played.begins?.() ?? buildSession({ action: 'wait' });
  const service: Service = {
    post: async (path, body) => {
      requireService();
      posts.push({ path, body: body as Record<string, unknown> });
      if (path === '/call_sessions/import') return { results: [{ result: 'imported' }] };
      if (path.includes('unheard')) throw new Refused(404, '');
      const next = played.answers?.[String((body as { event?: string }).event)];
      return { call_session: next ?? buildSession({ action: 'wait' }) };
    },
    startCall: async () => {
      starts += 1;
      await played.before_start?.();
      requireService();
      return session();
    },
    readCall: async () => {
      requireService();
      return session();
    },
    storeRecording: async () => ({}),
    listCommands: async (after = 0, _, { signal }) => {
      const next = commands.filter(({ id }) => id > after);
      if (next.length > 0) return next;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, 20);
        signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          done();
        });
      });
      return [];
    },
    sync: async (body) => {
      requireService();
      syncs.push(body);
      return { renewed: 0, ended: [], lost: [], unknown: [] } as never;
    },
  };
  return {
    ...{ service, posts, syncs, commands },
    starts: () => starts,
    reported: (event: string) => posts.filter(({ body }) => body.event === event),
    imported: () =>
      posts
        .filter(({ path }) => path === '/call_sessions/import')
        .flatMap(({ body }) => body.calls as Record<string, unknown>[]),
    results: () => posts.filter(({ body }) => 'result' in body),
  };
}
