import { useEffect, useState } from 'preact/hooks';
import { Panel } from '../parts/basics';
import { time, words } from '../format';
import { linkTo } from '../route';
import { useSession } from '../session';
import type { LiveEvent } from '../events';

const MAX_SHOWN = 14;
interface FeedItem {
  n: number;
  at: string;
  event: LiveEvent;
}

export function Happening() {
  const { events } = useSession();
  const [shown, setShown] = useState<readonly FeedItem[]>([]);
  useEffect(() => {
    let n = 0;
    return events.subscribe((event) => {
      const at = new Date().toISOString();
      setShown((before) => [{ n: n++, at, event }, ...before].slice(0, MAX_SHOWN));
    });
  }, [events]);
  return (
    <Panel title="As it happens">
      {shown.length === 0 && <p class="quiet">Events appear here as they come.</p>}
      <ol class="feed">
        {shown.map(({ n, at, event }) => (
          <li key={n}>
            <time dateTime={at}>{time(at)}</time> <EventText event={event} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function EventText({ event: { kind, data } }: { event: LiveEvent }) {
  if (kind === 'call')
    return (
      <span>
        <a href={linkTo('calls', data.call_id)}>Call {data.call_id}</a> {words(data.event)}
      </span>
    );
  if (kind === 'lead')
    return (
      <span>
        <a href={linkTo('leads', data.lead_id)}>Lead {data.lead_id}</a> {words(data.event)}
      </span>
    );
  if (kind === 'import')
    return (
      <span>
        Import {data.id} {data.status}
      </span>
    );
  if (kind === 'reset') return <span>Loaded again</span>;
  return data.buyer_id === null ? (
    <span>Caps of group {data.buyer_group_id}</span>
  ) : (
    <span>
      Caps of <a href={linkTo('buyers', data.buyer_id)}>buyer {data.buyer_id}</a>
    </span>
  );
}
