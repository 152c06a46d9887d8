import { useState } from 'preact/hooks';
import { useAction } from '../loading';
import { Panel, Problem } from '../parts/basics';
import { recordingLink } from '../route';
import { useSession } from '../session';

/** Plays what is stored here; what a carrier keeps opens there. */
export function Recording({ id, url }: { id: number; url: string | null }) {
  if (url === null) return null;
  const isStoredHere = url.includes(`/calls/${id}/recording`);
  return (
    <Panel title="Recording">
      {isStoredHere ? (
        <Player id={id} />
      ) : (
        <a href={recordingLink(url)} target="_blank" rel="noreferrer">
          Open it at the carrier
        </a>
      )}
    </Panel>
  );
}

/** A signed-in session lets the browser load it in parts; with keys it is loaded as a whole. */
function Player({ id }: { id: number }) {
  const { transport } = useSession();
  const path = `${transport.base}/calls/${id}/recording`;
  const isOpen = transport.credentials !== 'omit';
  const [source, setSource] = useState(isOpen ? path : undefined);
  const { run, is_busy, error } = useAction(async () => {
    const { headers, credentials } = transport;
    const res = await fetch(path, { headers, credentials });
    if (!res.ok) throw new Error('The recording could not be loaded.');
    setSource(URL.createObjectURL(await res.blob()));
  });
  return (
    <>
      {source === undefined ? (
        <button type="button" disabled={is_busy} onClick={() => void run()}>
          {is_busy ? 'Loading…' : 'Load it to play'}
        </button>
      ) : (
        <audio controls preload="metadata" src={recordingLink(source)} />
      )}
      <Problem error={error} />
    </>
  );
}
