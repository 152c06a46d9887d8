import type { World } from './world';

/** Requests about the buyers of a world's company; the world is used once a test begins. */
export function buildBuyerRequests(world: () => World) {
  const api = (...args: Parameters<World['company']['api']>) => world().company.api(...args);
  const create = (body: object) => api('post', 'buyers', { body });
  return {
    create,
    /** Creates a buyer and returns the record. */
    createRecord: async (body: object) => (await create(body)).body.buyer,
    put: (id: number, body: object) => api('put', `buyers/${id}`, { body }),
    shown: async (id: number) => (await api('get', `buyers/${id}`)).body.buyer,
  };
}
