import { ok, withTag } from '../api';
import { useLive, useLoaded } from '../loading';
import { useSession } from '../session';

/** A lead with its timeline, loaded again as its events come. */
export function useLead(id: string) {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const params = { path: { id } };
    const [{ data, tag }, { timeline }] = await Promise.all([
      withTag(api.GET('/leads/{id}', { params })),
      ok(api.GET('/leads/{id}/timeline', { params })),
    ]);
    return { lead: data.lead, tag, timeline };
  }, [api, id]);
  useLive(({ kind, data }) => kind === 'lead' && String(data.lead_id) === id, loaded.reload);
  return loaded;
}
