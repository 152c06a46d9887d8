import { loadLeadRow, SMS, wait } from '../../support/leads';
import { outreachAtNoon } from '../../support/outreach-at-noon';

const env = outreachAtNoon();
const { time, startLead, until, hours, texts, events } = env;

describe('the hours of a lead', () => {
  test('are daylight in every zone of the ZIP', async () => {
    time.set('2027-01-12T13:00:00Z');
    const { lead } = await startLead(
      [
        SMS,
        wait(719, 'minutes'),
        { ...SMS, body: 'Late' },
        wait(1, 'minutes'),
        { ...SMS, body: 'Too late' },
      ],
      { caller_id: '3105550177', zip: '32456' },
    );
    expect((await loadLeadRow(env.world, lead)).zones).toEqual([
      'America/Chicago',
      'America/New_York',
    ]);
    await until('2027-01-12T13:59:59.999Z');
    expect(await texts(lead)).toEqual([]);
    // Eight in Chicago, nine in New York.
    await until('2027-01-12T14:00:00Z');
    expect(await texts(lead)).toEqual(['Hello']);
    await until('2027-01-13T01:59:00.000Z');
    expect(await texts(lead)).toEqual(['Hello', 'Late']);
    // Nine in the evening in New York.
    await until('2027-01-13T02:00:00.000Z');
    await until('2027-01-13T13:59:59.999Z');
    expect(await texts(lead)).toEqual(['Hello', 'Late']);
    await until('2027-01-13T14:00:00Z');
    expect(await texts(lead)).toEqual(['Hello', 'Late', 'Too late']);
    expect(await events(lead)).toContain('delayed: daylight_hours until 2027-01-12T14:00:00.000Z');
  });

  test.each([
    ['spring', '2026-03-08T05:00:00Z', '2026-03-08T12:00:00Z'],
    ['autumn', '2026-11-01T04:30:00Z', '2026-11-01T13:00:00Z'],
  ])(
    'begin at 08:00 of the changed clock after the night of %s, and not earlier',
    async (_, night, morning) => {
      time.set(night);
      const { lead } = await startLead([SMS], { caller_id: '2125550177' });
      await until(new Date(Date.parse(morning) - 3_600_000).toISOString());
      await until(new Date(Date.parse(morning) - 1).toISOString());
      expect(await texts(lead)).toEqual([]);
      await until(morning);
      expect(await texts(lead)).toEqual(['Hello']);
    },
  );

  test('are those of the business too', async () => {
    const schedule = {
      business_hours_schedule: [
        { day: 2, times: ['13:00..13:59'] },
        { day: 3, times: ['07:00..08:29'] },
      ],
    };
    const { lead } = await startLead(
      [SMS, wait(2), { ...SMS, body: 'Tomorrow' }],
      { caller_id: '2125550177' },
      schedule,
    );
    expect(await events(lead)).toEqual(['delayed: business_hours until 2027-01-12T18:00:00.000Z']);
    await hours(1);
    await hours(3);
    await until('2027-01-13T12:59:59Z');
    expect(await texts(lead)).toEqual(['Hello']);
    await until('2027-01-13T13:00:00Z');
    expect(await texts(lead)).toEqual(['Hello', 'Tomorrow']);
  });
});
