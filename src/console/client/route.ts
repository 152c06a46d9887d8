import { useEffect, useState } from 'preact/hooks';

/** The location in the console: `#/calls/12` is the view `calls` with the id `12`. */
export interface Route {
  view: string;
  id: string | undefined;
}

function read(): Route {
  const [view = '', id] = location.hash.replace(/^#\/?/, '').split('/');
  return { view, id: id === undefined || id === '' ? undefined : decodeURIComponent(id) };
}

export const linkTo = (view: string, id?: number | string | null): string =>
  id === undefined || id === null ? `#/${view}` : `#/${view}/${id}`;

export function useRoute(): Route {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const changed = () => setRoute(read());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}
