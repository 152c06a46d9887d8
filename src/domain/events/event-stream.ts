import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { EventStream } from '../../api/reply/reply';
import { selectKinds } from './kinds';
import { readEventId } from './position';
import { streamEvents } from './stream-events';

/** Streams the events of a company. Takes no locks, and writes nothing. */
export const eventStream = ({ live, clock, pepper }: Pick<Deps, 'live' | 'clock' | 'pepper'>) =>
  ({
    streamEvents: async ({ query, db, caller, last_event_id }) => {
      const kinds = selectKinds(caller, query.kinds);
      const [text, field] = last_event_id
        ? [last_event_id.trim(), 'Last-Event-ID']
        : [query.last_event_id, 'last_event_id'];
      const after = text === undefined ? undefined : readEventId(text, field!, pepper);
      const waitMs = (query.wait_seconds ?? 0) * 1000;
      const reader = { kind: 'access_token', id: caller.access_token_id } as const;
      return new EventStream((readerGone) => {
        const leave = live.takeSlot({ company_id: db.company_id, reader });
        readerGone.addEventListener('abort', leave, { once: true });
        return streamEvents({
          db,
          live,
          caller,
          kinds,
          after,
          wait_ms: waitMs,
          clock,
          pepper,
          reader_gone: readerGone,
        });
      });
    },
  }) satisfies Partial<Handlers>;
