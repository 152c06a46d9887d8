import { carrierRequests, US } from '../../support/carrier-requests';
import { NOON, ownNumber } from '../../support/leads';

const here = carrierRequests();
const { time, hook, text, listMessages, optedOut, loadLogs, newLead } = here;
const { sentMessage, messageStatus, loadRow } = here;

/** Messages without the replies to them. */
const loadInbound = async (number: string) =>
  (await listMessages(number)).filter(({ direction }) => direction === 'inbound');

describe('a text message from a carrier', () => {
  test('is stored with the lead of its sender, and STOP and START have their effect', async () => {
    const { id, number } = await newLead();
    await hook('telephony/sms', text('Stop!', { From: number }));
    const [message] = await listMessages(number);
    expect(message).toMatchObject({
      direction: 'inbound',
      status: 'received',
      body: 'Stop!',
      carrier: 'twilio',
      lead_id: String(id),
      schedule_id: String(here.shop.schedule.id),
    });
    expect([
      await optedOut(number),
      await loadLogs(id, 'sms_received'),
      (await loadLogs(id, 'opted_out')).length,
    ]).toEqual([true, ['Stop!'], 1]);
    await hook('telephony/sms', text('START', { From: number }));
    expect(await optedOut(number)).toBe(false);
  });

  test('that is delivered again has no effect, whatever came since', async () => {
    const { id, number } = await newLead();
    const stop = text('STOP', { From: number });
    await hook('telephony/sms', stop);
    await hook('telephony/sms', text('START', { From: number }));
    expect((await hook('telephony/sms', stop)).status).toBe(200);
    expect([
      (await loadInbound(number)).length,
      await optedOut(number),
      await loadLogs(id, 'sms_received'),
    ]).toEqual([2, false, ['STOP', 'START']]);
  });

  test('that is delivered ten times at once is one message', async () => {
    const { id, number } = await newLead();
    const stop = text('STOP', { From: number });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => hook('telephony/sms', stop)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect([
      (await loadInbound(number)).length,
      (await loadLogs(id, 'sms_received')).length,
      (await loadLogs(id, 'opted_out')).length,
    ]).toEqual([1, 1, 1]);
  });

  test('with only a picture is stored without text', async () => {
    const picture = text('', { NumMedia: '1' });
    delete picture.Body;
    expect((await hook('telephony/sms', picture)).status).toBe(200);
    expect(await listMessages(picture.From!)).toMatchObject([{ body: '' }]);
  });

  test('belongs to the company of the number it came to, else to none', async () => {
    const otherCompany = await here.world.addCompany();
    await ownNumber(here.world, otherCompany, '12125550166');
    const message = text('STOP', { To: '+12125550166' });
    await hook('telephony/sms', message);
    expect(await loadInbound(message.From!)).toMatchObject([
      { company_id: String(otherCompany.id) },
    ]);
    expect(
      (await here.world.company.api('get', 'contacts', { query: { caller_id: message.From } })).body
        .contacts,
    ).toEqual([]);
    // Both companies may receive a message with this id.
    expect((await hook('telephony/sms', { ...message, To: US })).status).toBe(200);
    expect((await loadInbound(message.From!)).length).toBe(2);
    expect((await hook('telephony/sms', text('STOP', { To: '+12125559999' }))).status).toBe(404);
  });
});

describe('the status of a text message', () => {
  test.each([
    ['sending', ['queued', 'sent', 'delivered'], 'delivered', ['delivered']],
    ['queued', ['delivered', 'sent', 'queued'], 'delivered', ['delivered']],
    ['queued', ['sent', 'sent', 'accepted'], 'sent', []],
    ['sent', ['delivered', 'delivered'], 'delivered', ['delivered']],
    ['sent', ['read'], 'delivered', ['delivered']],
    ['sent', ['undelivered', 'delivered'], 'undelivered', ['undelivered']],
    ['sending', ['failed', 'sent'], 'failed', ['failed']],
    ['queued', ['partially_delivered', 'toString'], 'queued', []],
  ])('advances from %s by %j to %s, and never back', async (first, reports, last, logs) => {
    const { id } = await newLead();
    const message = await sentMessage(first, id);
    for (const status of reports) expect((await messageStatus(message, status)).status).toBe(200);
    expect([
      (await loadRow('text_messages', message)).status,
      await loadLogs(id, 'sms_changed'),
    ]).toEqual([last, logs]);
  });

  test('is stored with the carrier’s id, the times, and the reason', async () => {
    const [good, bad, odd] = [
      await sentMessage('sending'),
      await sentMessage('queued'),
      await sentMessage('sending'),
    ];
    await messageStatus(good, 'sent');
    time.set('2027-01-12T17:00:05Z');
    await messageStatus(good, 'delivered');
    const times = { sent_at: new Date(NOON), delivered_at: new Date('2027-01-12T17:00:05Z') };
    expect(await loadRow('text_messages', good)).toMatchObject({
      carrier_message_id: `SM-${good.uuid}`,
      error_code: null,
      error_message: null,
      ...times,
    });
    await messageStatus(bad, 'undelivered', { ErrorCode: '30003' });
    expect(await loadRow('text_messages', bad)).toMatchObject({
      error_code: 'unreachable',
      error_message: expect.stringContaining('out of range'),
      delivered_at: null,
    });
    await messageStatus(odd, 'failed', { ErrorCode: '30410' });
    expect(await loadRow('text_messages', odd)).toMatchObject({
      error_code: 'twilio_30410',
      error_message: expect.stringContaining('30410'),
      sent_at: null,
    });
  });

  test('changes no message of another company, and no inbound one', async () => {
    const otherCompany = await here.world.addCompany();
    await ownNumber(here.world, otherCompany, '12125550167');
    const [mine, received] = [
      await sentMessage('queued'),
      await sentMessage('received', null, 'inbound'),
    ];
    expect((await messageStatus(mine, 'delivered', { From: '+12125550167' })).status).toBe(200);
    expect((await messageStatus(received, 'failed')).status).toBe(200);
    expect(
      (await messageStatus({ uuid: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001' }, 'failed')).status,
    ).toBe(200);
    expect([
      await loadRow('text_messages', mine),
      await loadRow('text_messages', received),
    ]).toMatchObject([{ status: 'queued' }, { status: 'received' }]);
    expect((await messageStatus(mine, 'delivered', { From: '+12125559999' })).status).toBe(404);
  });
});
