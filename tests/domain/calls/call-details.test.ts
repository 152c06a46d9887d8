import { createCallWriter } from '../../support/calls';
import { companyWithCalls, LIVE, NOW } from '../../support/company-with-calls';

const here = companyWithCalls();
const { api, ids, createdCalls } = here;

describe('one call', () => {
  test('is shown by number and uuid, in a time zone, and with 304 if unchanged', async () => {
    const { id, uuid } = createdCalls.sold!;
    const first = await api(`calls/${id}`);
    expect((await api(`calls/${uuid}`)).body).toEqual(first.body);
    expect(first.headers.etag).toBe(`"${first.body.checksum}"`);
    expect(
      (
        await here.company.api('get', `calls/${id}`, {
          headers: { 'If-None-Match': first.headers.etag! },
        })
      ).status,
    ).toBe(304);
    expect(
      (await api('calls', { ids: id, time_zone: 'America/New_York' })).body.calls[0].ended_at,
    ).toBe('2027-01-11T07:02:00.000-05:00');
  });

  test('and its events are not found by another company or once it is deleted', async () => {
    const otherCompany = await here.world.addCompany();
    for (const [name, by] of [
      ['sold', otherCompany],
      ['gone', here.company],
    ] as const) {
      for (const reference of [createdCalls[name]!.id, createdCalls[name]!.uuid])
        for (const part of ['', '/events', '/attempts'])
          expect([part, (await api(`calls/${reference}${part}`, {}, by)).status]).toEqual([
            part,
            404,
          ]);
    }
    expect((await api('calls', {}, otherCompany)).body).toMatchObject({
      calls: [],
      metadata: { total_count: 0 },
    });
  });

  test('has its events and attempts, in order and by pages', async () => {
    const { id, uuid } = await createCallWriter(here.world, here.company).call({
      buyer_id: ids.buyer,
      answered_at: LIVE.created_at,
      ended_at: NOW,
      direction: 'outbound',
    });
    const calls = createCallWriter(here.world, here.company);
    await calls.attempt(id, ids.other_buyer!, { status: 'no_answer', round: 1 });
    await calls.attempt(id, ids.buyer!, {
      status: 'completed',
      round: 2,
      answered_at: '2027-01-12T16:58:10Z',
      connected_at: '2027-01-12T16:58:13Z',
      ended_at: NOW,
    });
    for (const event of ['ringing', 'no_answer', 'connected'])
      await calls.event(id, event, event === 'connected' ? ids.buyer : undefined);
    const { body } = await api(`calls/${uuid}/attempts`);
    expect(body).toMatchObject({
      metadata: { root: 'call_attempts', total_count: 2, next_cursor: 0 },
    });
    expect(body.call_attempts).toMatchObject([
      { call_id: id, buyer: 'Bayline', status: 'no_answer', round: 1, buyer_group_id: null },
      {
        buyer: 'Acme',
        buyer_id: ids.buyer,
        round: 2,
        timeout_seconds: 30,
        connected_at: '2027-01-12T16:58:13.000+00:00',
      },
    ]);
    const events = (await api(`calls/${id}/events`)).body.call_events;
    expect(events.map(({ event, buyer }: Record<string, unknown>) => [event, buyer])).toEqual([
      ['ringing', null],
      ['no_answer', null],
      ['connected', 'Acme'],
    ]);
    expect(Object.keys(events[0])).toEqual([
      'id',
      'created_at',
      'call_id',
      'event',
      'message',
      'buyer_id',
      'buyer',
      'details',
    ]);
    const page = (
      await api(`calls/${id}/events`, { per_page: 2, cursor: -1, columns: 'event,nonsense' })
    ).body;
    expect([page.call_events, page.metadata.unknown_columns]).toEqual([
      [{ event: 'ringing' }, { event: 'no_answer' }],
      ['nonsense'],
    ]);
    expect(
      (
        await api(`calls/${id}/events`, {
          cursor: page.metadata.next_cursor,
          root: false,
          columns: 'event',
        })
      ).body,
    ).toEqual([{ event: 'connected' }]);
    expect(
      (await api(`calls/${id}/attempts.json`, { columns: 'status', root: 'no' })).body,
    ).toEqual([{ status: 'no_answer' }, { status: 'completed' }]);
    expect((await api(`calls/${id}`)).body.call).toMatchObject({
      attempts_count: 2,
      ivr_duration: 3,
    });
    expect((await api(`calls/${createdCalls.sold!.id}/events`)).body).toMatchObject({
      call_events: [],
      metadata: { total_count: 0 },
    });
  });
});
