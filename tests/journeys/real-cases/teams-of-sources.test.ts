import { softswitch } from '../../support/softswitch';
import { withToken } from '../../support/teams';

// A publisher gets a team with the source, by e-mail address, as a buyer does.

const here = softswitch('2026-06-01T16:30:00Z');
const { ok, begin } = here;

const createSource = (fields: object = {}) =>
  here.world.create('traffic_sources', { name: 'Ads', ...fields });
const listTeams = async (source: number): Promise<number[]> =>
  (await ok('get', `traffic_sources/${source}?serializer=traffic_source_grid`)).traffic_source
    .team_ids;
const loadTeam = async (id: number) =>
  (await ok('get', `access_control_lists/${id}`)).access_control_list;

test('generate_team creates one team, however many ask for it', async () => {
  const source = await createSource();
  await Promise.all(
    Array.from({ length: 10 }, () =>
      ok('put', `traffic_sources/${source}`, { generate_team: true }),
    ),
  );
  const teams = await listTeams(source);
  expect(teams).toHaveLength(1);
  expect(await loadTeam(teams[0]!)).toMatchObject({
    name: 'Ads team',
    permissions: ['traffic_sources:read', 'calls:read', 'leads:read'],
    traffic_source_ids: [source],
    generated_for_traffic_source_id: source,
    all_offers: true,
  });
});

test('its users, by address, see what the source has sent and earned, and change nothing', async () => {
  const email = 'pub@example.com';
  const source = await createSource({ team_users_emails: [email] });
  const offer = await here.offer({ buyer_ids: [await here.buyer()] });
  const call = await begin(offer, { traffic_source_id: source });
  const others = await begin(offer, { caller_number: '+13105550177' });
  const fields = { name: email, kind: 'user_token', user_email: email };
  const { token } = await ok('post', 'access_tokens', fields);
  const api = withToken(here.world.company.api, token);
  const statuses = [
    await api('get', `traffic_sources/${source}`),
    await api('get', `calls/${call.id}`),
    await api('get', 'leads'),
    await api('get', `calls/${others.id}`),
    await api('put', `traffic_sources/${source}`, { body: { paused: true } }),
    await api('post', `calls/${call.id}`, { body: { description: 'x' } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 404, 403, 403]);
});

test('users and offers of that team are replaced, and it is deleted with the source', async () => {
  const offer = await here.offer({});
  const source = await createSource({
    team_users_emails: ['a@example.com'],
    team_offer_ids: [offer],
  });
  const [id] = await listTeams(source);
  expect(await loadTeam(id!)).toMatchObject({
    users_emails: ['a@example.com'],
    offer_ids: [offer],
    all_offers: false,
  });
  await ok('put', `traffic_sources/${source}`, { team_users_emails: null, team_offer_ids: null });
  expect(await loadTeam(id!)).toMatchObject({ users_emails: [], offer_ids: [], all_offers: true });
  await ok('delete', `traffic_sources/${source}`);
  const { status } = await here.world.api('get', `access_control_lists/${id}`);
  expect(status).toBe(404);
});

test('blank fields create no team', async () => {
  const source = await createSource({ team_users_emails: '', team_offer_ids: '' });
  expect(await listTeams(source)).toEqual([]);
});
