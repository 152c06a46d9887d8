import { useState } from 'preact/hooks';
import { duration } from '../format';
import { useEvery } from '../loading';

const SECOND_MS = 1_000;

/** How long something has been going on, second by second. */
export function Ticking({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now());
  useEvery(SECOND_MS, () => setNow(Date.now()));
  return <>{duration(Math.max(0, Math.floor((now - Date.parse(since)) / SECOND_MS)))}</>;
}
