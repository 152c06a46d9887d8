import request from 'supertest';
import { openShop } from '../../support/leads';
import { basic } from '../../support/world';
import { useSubmissions } from '../../support/submissions';

const { api, createLead, post, theirShop, theirs, world } = useSubmissions();

describe('the lead token', () => {
  const leads = async () => [
    (await api('get', 'leads')).body.metadata.total_count,
    (await theirs.api('get', 'leads')).body.metadata.total_count,
  ];
  test('must be given, and known', async () => {
    for (const leadToken of [undefined, '', 'xyz', { a: 1 }, 'f'.repeat(32)]) {
      const { status, body } = await post({ lead_token: leadToken });
      expect([status, Object.keys(body.errors)]).toEqual([401, ['lead_token']]);
    }
  });

  test('that was reset, or whose schedule was deleted, is refused at once', async () => {
    const { schedule } = await openShop(world, []);
    await createLead({ lead_token: schedule.lead_token });
    const after = (
      await api('put', `schedules/${schedule.id}`, { body: { reset_lead_token: true } })
    ).body.schedule;
    expect((await post({ lead_token: schedule.lead_token })).status).toBe(401);
    await createLead({ lead_token: after.lead_token });
    await api('delete', `schedules/${schedule.id}`);
    expect((await post({ lead_token: after.lead_token })).status).toBe(401);
  });

  test('of another company makes a lead there, and nowhere else', async () => {
    const [mine, theirCount] = await leads();
    const { id } = await createLead({ lead_token: theirShop.schedule.lead_token });
    expect([await leads(), (await api('get', `leads/${id}`)).status]).toEqual([
      [mine, theirCount + 1],
      404,
    ]);
    expect((await post({ offer_lead_token: theirShop.offer.lead_token })).status).toBe(401);
  });

  test.each([
    ['of another service', () => 'Bearer xyz'],
    ['that is malformed', () => 'Basic !!!'],
    ['of another company', () => basic(theirs.auth)],
    ['with a wrong key', () => basic(`${world.company.auth.split(':')[0]}:wrong`)],
  ])('needs no Authorization, and a header %s is ignored', async (_, header) => {
    const [mine, theirCount] = await leads();
    const res = await post({}, { Authorization: header() });
    expect([res.status, await leads()]).toEqual([201, [mine + 1, theirCount]]);
  });
});

describe('browsers', () => {
  const raw = () => request(world.app);
  const Origin = 'https://landing.example';
  const allowed = ({ headers }: request.Response) => headers['access-control-allow-origin'];
  const preflight = (method: string, path: string) =>
    raw().options(`/api/v1/${path}`).set({
      Origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type',
    });

  test.each([
    ['POST', 'leads'],
    ['POST', 'leads/capture'],
    ['PUT', 'leads/3105550123/caller_opt_out'],
    ['POST', 'leads/3105550123/caller_opt_out'],
    ['GET', 'leads/3105550123/caller_opt_out'],
    ['POST', 'leads/3105550123/caller_remove'],
    ['DELETE', 'leads/3105550123/caller_remove'],
    ['PUT', 'leads/3105550123/caller_move_to_end_of_schedule'],
    ['GET', `leads/${'f'.repeat(32)}/3105550123/by_caller_number`],
  ])('of any origin may %s /%s', async (method, path) => {
    const res = await preflight(method, path);
    expect([
      res.status,
      allowed(res),
      res.headers['access-control-allow-methods'],
      res.headers['access-control-allow-headers'],
    ]).toEqual([
      204,
      Origin,
      expect.stringContaining(method),
      expect.stringContaining('Content-Type'),
    ]);
  });

  test.each([
    ['GET', 'leads'],
    ['GET', 'leads/1'],
    ['PUT', 'leads/1'],
    ['DELETE', 'leads/1/id'],
    ['GET', 'leads/1/timeline'],
    ['GET', 'buyers'],
    ['POST', 'offers'],
  ])('of origins that are not configured may not %s /%s', async (method, path) => {
    expect(allowed(await preflight(method, path))).toBeUndefined();
    expect(allowed(await raw().get(`/api/v1/${path}`).set({ Origin }))).toBeUndefined();
  });

  test('read the answer to a submission, and to one that is refused', async () => {
    for (const [fields, status] of [
      [{}, 201],
      [{ caller_id: 'x' }, 422],
      [{ lead_token: undefined }, 401],
    ] as const) {
      const res = await post(fields, { Origin });
      expect([
        res.status,
        allowed(res),
        res.headers['access-control-allow-credentials'],
        res.headers.vary,
      ]).toEqual([status, Origin, 'true', expect.stringContaining('Origin')]);
    }
  });
});
