import { useEffect, useState } from 'preact/hooks';

/** A value outside of the components; they are drawn again when a listener is called. */
export function useSyncExternalStore<T>(listeners: Set<() => void>, read: () => T): T {
  const [value, setValue] = useState(read);
  useEffect(() => {
    const changed = () => setValue(() => read());
    listeners.add(changed);
    changed();
    return () => void listeners.delete(changed);
  }, []);
  return value;
}
