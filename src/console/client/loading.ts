import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useSession } from './session';
import type { LiveEvent } from './events';

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  is_loading: boolean;
  /** Resolves when it was loaded again, or could not be. */
  reload: () => Promise<void>;
}

/**
 * Loads the data of a view, and loads it again when `keys` change; an outdated answer is dropped.
 */
export function useLoaded<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: unknown; is_loading: boolean }>({
    is_loading: true,
  });
  const turn = useRef(0);
  const reload = useCallback(() => {
    const ownTurn = ++turn.current;
    const isLatest = () => ownTurn === turn.current;
    setState((before) => ({ ...before, is_loading: true }));
    return load().then(
      (data) => {
        if (isLatest()) setState({ data, is_loading: false });
      },
      (error: unknown) => {
        if (isLatest()) setState((before) => ({ ...before, error, is_loading: false }));
      },
    );
  }, keys);
  useEffect(() => {
    setState({ is_loading: true });
    void reload();
    return () => void turn.current++;
  }, [reload]);
  return { data: state.data, error: state.error, is_loading: state.is_loading, reload };
}

/** Events come in bursts: their changes are loaded once for a burst. */
const BURST_MS = 1_500;

/** Calls back soon after events that match, and after each reset of the stream. */
export function useLive(matters: (event: LiveEvent) => boolean, changed: () => void): void {
  const { events } = useSession();
  const latest = useRef({ matters, changed });
  latest.current = { matters, changed };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = events.subscribe((event) => {
      if (event.kind !== 'reset' && !latest.current.matters(event)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current.changed();
      }, BURST_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [events]);
}

/** Calls back periodically, for changes without events. */
export function useEvery(ms: number, work: () => void): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const timer = setInterval(() => latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

/** The action of a button, with its state for the page. */
export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>) {
  const [state, setState] = useState<{ is_busy: boolean; error?: unknown; done?: string }>({
    is_busy: false,
  });
  const run = async (...args: Args) => {
    setState({ is_busy: true });
    try {
      const done = await work(...args);
      setState({ is_busy: false, ...(typeof done === 'string' && { done }) });
    } catch (error) {
      setState({ is_busy: false, error });
    }
  };
  return { ...state, run };
}
