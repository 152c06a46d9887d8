import { CALLER, sellers } from '../../support/sellers';
import { addRecording } from '../../support/recorded-calls';

const here = sellers();
const { ok, buyer, shop, ping, post, later, time } = here;

type Fields = Record<string, unknown>;
const send = (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: Fields) =>
  here.world.company.api(method, path, body ? { body } : {});
const createSource = async (fields: Fields) => (await ok('traffic_sources', fields)).traffic_source;
const updateSource = async (id: number, fields: Fields) =>
  (await ok(`traffic_sources/${id}`, fields, 'put')).traffic_source;
const shown = async (id: number) =>
  (await send('get', `traffic_sources/${id}`)).body.traffic_source;
const session = async (fields: Fields) =>
  (await ok('call_sessions', { caller_number: CALLER, ...fields })).call_session;

describe('the names of a traffic source', () => {
  test.each([
    [
      { first_name: 'Ada', last_name: 'Byron', company_name: 'Engines', email: 'a@b.co' },
      'Ada Byron',
    ],
    [{ first_name: 'Ada', company_name: 'Engines' }, 'Ada'],
    [{ last_name: 'Byron', email: 'a@b.co' }, 'Byron'],
    [{ first_name: ' ', company_name: 'Engines', email: 'a@b.co' }, 'Engines'],
    [{ company_name: '', email: 'a@b.co' }, 'a@b.co'],
    [{ name: '', email: 'a@b.co' }, 'a@b.co'],
    [{ name: 'Given', first_name: 'Ada', last_name: 'Byron' }, 'Given'],
  ])('%j is called %j', async (fields, name) => {
    const source = await createSource(fields);
    expect(source.name).toBe(name);
    expect(await shown(source.id)).toEqual(source);
  });

  test('are written and read back', async () => {
    const names = { first_name: 'Ada', last_name: 'Byron', company_name: 'Engines' };
    const source = await createSource({ ...names, user_traffic_source_id: 'ada' });
    const calls = { paused: false, calls_count: 0, last_call_at: null };
    expect(source).toMatchObject({ ...names, ...calls, user_traffic_source_id: 'ada' });
  });

  test('are searched by', async () => {
    const { id } = await createSource({
      name: 'X',
      last_name: 'Lovelace',
      company_name: 'Engines',
    });
    for (const text of ['lovelace', 'ENGINES']) {
      const { traffic_sources: sources } = (await send('get', `traffic_sources?fulltext=${text}`))
        .body;
      expect(sources.map((source: { id: number }) => source.id)).toEqual([id]);
    }
  });

  test('without any of them it is refused', async () => {
    const res = await send('post', 'traffic_sources', { description: 'Nobody' });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['name']]);
    const { id } = await createSource({ company_name: 'Engines' });
    const cleared = await send('put', `traffic_sources/${id}`, { company_name: null });
    expect([cleared.status, Object.keys(cleared.body.errors)]).toEqual([422, ['name']]);
  });

  test('a name that was made follows them; one that was given stays until it is blank', async () => {
    const { id } = await createSource({ first_name: 'Ada' });
    expect((await updateSource(id, { last_name: 'Byron' })).name).toBe('Ada Byron');
    expect((await updateSource(id, { name: 'Given' })).name).toBe('Given');
    expect((await updateSource(id, { last_name: 'Lovelace' })).name).toBe('Given');
    expect((await updateSource(id, { name: '' })).name).toBe('Ada Lovelace');
  });
});

describe('its calls', () => {
  test('are counted exactly while many begin at once, with the time of the last', async () => {
    const [{ id }, otherSource] = [
      await createSource({ name: 'Busy' }),
      await createSource({ name: 'Second' }),
    ];
    const { offer } = await shop([await buyer()]);
    await Promise.all(
      Array.from({ length: 25 }, (_, n) =>
        session({ offer_id: offer, traffic_source_id: id, caller_number: `+1310555${2000 + n}` }),
      ),
    );
    expect(await shown(id)).toMatchObject({
      calls_count: 25,
      last_call_at: time.read().toISOString().replace('Z', '+00:00'),
    });
    later(60);
    await session({ offer_id: offer, traffic_source_id: id });
    expect(await shown(id)).toMatchObject({
      calls_count: 26,
      last_call_at: time.read().toISOString().replace('Z', '+00:00'),
    });
    expect(await shown(otherSource.id)).toMatchObject({ calls_count: 0, last_call_at: null });
    const counted = (await send('get', `calls?traffic_source_id=${id}`)).body.metadata.total_count;
    expect(counted).toBe(26);
    later(60);
    await session({ offer_id: offer, traffic_source_id: otherSource.id });
    const order = async (by: string) =>
      (await send('get', `traffic_sources?order=${by}&order_dir=desc`)).body.traffic_sources.map(
        (source: { name: string }) => source.name,
      );
    expect([await order('calls_count'), await order('last_call_at')]).toEqual([
      ['Busy', 'Second'],
      ['Second', 'Busy'],
    ]);
  });

  test('move with a call to another source, and go with a call that is removed', async () => {
    const [from, to] = [await createSource({ name: 'From' }), await createSource({ name: 'To' })];
    const { offer } = await shop([await buyer()]);
    const call = await session({ offer_id: offer, traffic_source_id: from.id });
    const counts = async () => [
      (await shown(from.id)).calls_count,
      (await shown(to.id)).calls_count,
    ];
    expect(await counts()).toEqual([1, 0]);
    const { world } = here;
    await world.sql(addRecording('UPDATE calls SET traffic_source_id = $1 WHERE id = $2'), [
      to.id,
      call.id,
    ]);
    expect(await counts()).toEqual([0, 1]);
    await world.sql(addRecording('UPDATE calls SET deleted_at = now() WHERE id = $1'), [call.id]);
    expect(await counts()).toEqual([0, 0]);
  });
});

describe('while it is paused', () => {
  const createPausedSource = async () => {
    const source = await createSource({ name: 'Paused', user_traffic_source_id: 'p1' });
    const id = await buyer();
    const at = await shop([id], { traffic_source_id: source.id });
    return { source, at, pause: (paused: boolean) => updateSource(source.id, { paused }) };
  };
  const requestInstruction = async (offerId: number, trafficSourceId?: number) =>
    (await session({ offer_id: offerId, traffic_source_id: trafficSourceId })).instruction;

  test('its calls get no buyer, with the reason; those of others do', async () => {
    const { source, at, pause } = await createPausedSource();
    expect((await requestInstruction(at.offer, source.id)).action).toBe('dial');
    await pause(true);
    expect(await requestInstruction(at.offer, source.id)).toMatchObject({
      action: 'hang_up',
      reason: 'traffic_source_paused',
    });
    expect((await requestInstruction(at.offer)).action).toBe('dial');
    await pause(false);
    expect((await requestInstruction(at.offer, source.id)).action).toBe('dial');
  });

  test('the decision about the call says so for each buyer', async () => {
    const { source, at, pause } = await createPausedSource();
    await pause(true);
    const { id } = await session({ offer_id: at.offer, traffic_source_id: source.id });
    const { decisions } = (await send('get', `calls/${id}/decision`)).body;
    expect(decisions[0].candidates.map(({ reason }: { reason: string }) => reason)).toEqual([
      'traffic_source_paused',
    ]);
  });

  test('an explanation says what the call would get, also by the source of the lead', async () => {
    const { source, at, pause } = await createPausedSource();
    const explained = async (trafficSourceId?: number) =>
      (
        await ok('routing/explain', {
          offer_id: at.offer,
          caller_number: CALLER,
          traffic_source_id: trafficSourceId,
        })
      ).decision;
    await pause(true);
    expect((await explained()).action).toBe('dial');
    expect(await explained(source.id)).toMatchObject({
      action: 'hang_up',
      reason: 'traffic_source_paused',
    });
    const { lead_token } = (await send('get', `offers/${at.offer}`)).body.offer;
    const lead = { lead_token, caller_id: CALLER, traffic_source_id: source.id };
    expect((await send('post', 'leads', lead)).status).toBe(201);
    expect((await explained()).reason).toBe('traffic_source_paused');
    expect((await requestInstruction(at.offer)).reason).toBe('traffic_source_paused');
    const otherSource = await createSource({ name: 'Other' });
    expect((await explained(otherSource.id)).action).toBe('dial');
    expect((await requestInstruction(at.offer, otherSource.id)).action).toBe('dial');
  });

  test('a call that it sent before still goes on to the next buyer', async () => {
    const { source, at, pause } = await createPausedSource();
    await ok(`offers/${at.offer}`, { buyer_ids: [await buyer(), await buyer()] }, 'put');
    const { id } = await session({ offer_id: at.offer, traffic_source_id: source.id });
    await pause(true);
    const { call_session } = await ok(`call_sessions/${id}/events`, { event: 'busy' });
    expect(call_session.instruction.action).toBe('dial');
  });

  test('a simulation of its calls finds them no buyer', async () => {
    const { source, at, pause } = await createPausedSource();
    const { id } = await session({ offer_id: at.offer, traffic_source_id: source.id });
    await ok(`call_sessions/${id}/events`, { event: 'completed' });
    const from = new Date(time.read().getTime() - 3_600_000).toISOString();
    later(60);
    const to = time.read().toISOString();
    const attempts = async () =>
      (await ok('routing/simulate', { offer_id: at.offer, from, to, changes: {} })).simulation
        .totals.as_configured.attempts;
    expect(await attempts()).toBe(1);
    await pause(true);
    expect(await attempts()).toBe(0);
  });

  test('its pings and posts are refused; what was reserved before is connected', async () => {
    const { at, pause } = await createPausedSource();
    const sold = await ping(at);
    expect(sold.status).toBe('accepted');
    await pause(true);
    expect((await ping(at)).status).toBe('traffic_source_paused');
    const posted = await post(at, { ping_id: sold.try_all_buyers_ping_id });
    expect(posted.status).toBe('accepted');
    expect((await session({ offer_id: at.offer })).instruction.action).toBe('dial');
  });
});
