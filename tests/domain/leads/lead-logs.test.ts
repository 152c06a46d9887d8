import { type Company } from '../../support/world';
import { EMAIL, newNumber, useContacts } from '../../support/contacts';
import { NOON, openShop, ownNumber, runEngine, sms } from '../../support/leads';

const { api, records, submitLead, time, world } = useContacts();

describe('lead logs and e-mails', () => {
  let leads: { id: number; uuid: string }[];
  let company: Company;
  beforeAll(async () => {
    time.set(NOON);
    company = await world.addCompany();
    await ownNumber(world, company, '12125550188');
    const { schedule } = await openShop(world, [sms('x'), EMAIL], {}, company);
    leads = [];
    for (const email of ['ann@example.com', 'bounce@example.com'])
      leads.push(await submitLead(schedule.lead_token, newNumber(), { email, first_name: '<b>' }));
    await runEngine(world);
  });
  const EVENTS = ['created', 'sms_sent', 'email_sent', 'left_schedule', 'ended'];
  const events = (logs: { event: string }[]) => logs.map(({ event }) => event);

  test('logs are in order, by lead and by event', async () => {
    const logs = await records('lead_logs', { lead_id: leads[0]!.id }, company);
    expect(events(logs)).toEqual(EVENTS);
    expect(await records('lead_logs', { lead_id: leads[0]!.uuid }, company)).toEqual(logs);
    expect(
      events(await records('lead_logs', { lead_id: leads[0]!.id, order_dir: 'desc' }, company)),
    ).toEqual(EVENTS.toReversed());
    const ended = await records('lead_logs', { event: 'ended' }, company);
    expect(
      ended.map(({ lead_id, message }: Record<string, unknown>) => [lead_id, message]),
    ).toEqual(leads.map(({ id }) => [id, 'completed']));
    const failed = await records(
      'lead_logs',
      { event: 'email_failed', lead_id: leads[1]!.id },
      company,
    );
    expect(failed).toEqual([
      expect.objectContaining({
        type: 'LeadLog',
        email_id: expect.any(Number),
        schedule_action_id: expect.any(Number),
        message: expect.stringContaining('no mailbox'),
      }),
    ]);
    expect(await records('lead_logs', {}, await world.addCompany())).toEqual([]);
    expect((await company.api('get', 'lead_logs', { query: { event: 'nothing' } })).status).toBe(
      422,
    );
  });

  test('logs are paged through, each once, whatever comes meanwhile', async () => {
    const all = (await records('lead_logs', { per_page: 1000 }, company)).map(
      ({ id }: { id: number }) => id,
    );
    const seenIds: number[] = [];
    let cursor: string | number = -1;
    for (let pages = 0; pages < 20 && String(cursor) !== '0'; pages++) {
      const { body } = await company.api('get', 'lead_logs', { query: { cursor, per_page: 3 } });
      seenIds.push(...body.lead_logs.map(({ id }: { id: number }) => id));
      cursor = body.metadata.next_cursor;
      if (pages === 1) await company.api('put', `leads/${leads[0]!.id}`, { body: { sub_id: 'x' } });
    }
    expect([seenIds.slice(0, all.length), seenIds.length]).toEqual([all, all.length + 1]);
  });

  test('e-mails are listed by lead and shown as they went out', async () => {
    const [email] = await records('emails', { lead_id: leads[0]!.uuid }, company);
    const expected = {
      status: 'sent',
      to_email: 'ann@example.com',
      subject: 'Hi <b>',
      body: '<p>&lt;b&gt;</p>',
      html: true,
      sandbox: true,
      error_code: null,
    };
    const shown = await company.api('get', `emails/${email.id}`);
    expect(shown.body.email).toMatchObject({
      ...expected,
      lead_id: leads[0]!.id,
      sent_at: '2027-01-12T17:00:00.000+00:00',
    });
    expect(
      (
        await company.api('get', `emails/${email.uuid}`, {
          headers: { 'If-None-Match': shown.body.checksum },
        })
      ).status,
    ).toBe(304);
    expect(await records('emails', { lead_id: leads[1]!.id }, company)).toMatchObject([
      { status: 'failed', error_code: 'rejected', sent_at: null },
    ]);
    expect((await api('get', `emails/${email.id}`)).status).toBe(404);
    expect((await records('emails', {}, company)).length).toBe(2);
  });
});
