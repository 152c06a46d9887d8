import type { ComponentChild, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, Problem } from './parts/basics';

/**
 * A component whose script is loaded when it is first shown: the first view then waits for its own
 * script alone.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => ComponentChild {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<{ error?: unknown; is_ready: boolean }>({
      is_ready: loaded !== undefined,
    });
    useEffect(() => {
      if (loaded) return;
      load().then(
        (component) => {
          loaded = component;
          setState({ is_ready: true });
        },
        (error: unknown) => setState({ error, is_ready: false }),
      );
    }, []);
    if (state.error !== undefined) return <Problem error={state.error} />;
    if (!loaded) return <Loading />;
    const Loaded = loaded as ComponentType<object>;
    return <Loaded {...props} />;
  };
}
