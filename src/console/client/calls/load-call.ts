import { ok } from '../api';
import { useLive, useLoaded } from '../loading';
import { useSession } from '../session';

/** A call with its events and decisions, loaded again as they come. */
export function useCall(id: string) {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const params = { path: { id } };
    const [{ call }, { call_events }, { decisions, billing }] = await Promise.all([
      ok(api.GET('/calls/{id}', { params })),
      ok(api.GET('/calls/{id}/events', { params: { ...params, query: { per_page: 1_000 } } })),
      ok(api.GET('/calls/{id}/decision', { params })),
    ]);
    return { call, call_events, decisions, billing };
  }, [api, id]);
  useLive(({ kind, data }) => kind === 'call' && String(data.call_id) === id, loaded.reload);
  return loaded;
}
