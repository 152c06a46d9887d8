import { settled } from '../console';
import { CALL_TASKS, openCall } from './calls';
import { PEOPLE_TASKS } from './people';
import { findOne, pick, read, type Person, type Task } from './person';

// The work of partners in the console of their network.

/** The tasks of all partners, of those that the owner has. */
const SHARED: readonly Task[] = [
  ...CALL_TASKS.filter(({ name }) => name === 'export all calls of a month'),
  ...PEOPLE_TASKS.filter(({ name }) => name === 'revoke a session'),
];

const seeOwnCalls: Task = {
  name: 'see their calls and no others',
  do: async (person) => {
    await person.open('Calls');
    const calls = await read<{ caller_number: string }[]>(person, 'calls', 'calls');
    expect(calls.length).toBeGreaterThan(0);
    const shown = await person.page.locator('tbody tr').allInnerTexts();
    expect(shown).toHaveLength(calls.length);
    for (const { caller_number: caller } of calls) expect(shown.join()).toContain(caller);
  },
};

export const PUBLISHER_TASKS: readonly Task[] = [
  seeOwnCalls,
  {
    name: 'find why a call was not routed',
    do: async (person) => {
      const call = await findOne(person, 'calls?fulltext=2125550143');
      await openCall(person, call.id, call.caller_number);
      await person.sees('No buyer could take it.');
    },
  },
  {
    name: 'make a report of their source by day, and its CSV',
    do: async (person) => {
      await person.open('Reports');
      await person.select('Group by', 'Source');
      await person.panel('Report').getByRole('cell', { name: 'Pat’s pages' }).waitFor();
      const path = 'calls/reports/grouped?group_by=traffic_source&call_category=inbound';
      const { totals } = (await person.api('get', path)).body;
      expect(totals.calls).toBeGreaterThan(0);
      const all = person.panel('Report').locator('tfoot tr :is(td, th)');
      expect((await all.allInnerTexts())[1]).toBe(String(totals.calls));
      const { lines } = await person.save(() => person.press('CSV'));
      expect(lines.join()).toContain('Pat’s pages');
    },
  },
  ...SHARED,
];

export const BUYER_TASKS: readonly Task[] = [
  seeOwnCalls,
  {
    name: 'pause themselves and undo it',
    do: async (person) => {
      const isPaused = async () => (await findOne(person, 'buyers')).paused;
      await openBuyer(person);
      await person.press('Pause');
      await person.page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await isPaused()).toBe(true);
      await person.press('Undo');
      await person.page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
      expect(await isPaused()).toBe(false);
    },
  },
  {
    name: 'lower a cap and change their hours',
    do: async (person) => {
      await openBuyer(person);
      const limit = pick(person, 300, 200);
      await person.type('Dialed in a day', String(limit));
      await person.type('Saturday', '10:00–14:00', person.panel('Hours'));
      await person.press('Save');
      await person.sees('Saved.');
      const buyer = await findOne(person, 'buyers');
      expect(buyer.attempt_daily_limit).toBe(limit);
      expect(buyer.business_hours_schedule[0].schedule).toContainEqual({
        day: 6,
        times: ['10:00..13:59'],
      });
    },
  },
  {
    name: 'make a report of their calls by day',
    do: async (person) => {
      await person.open('Reports');
      const { totals } = (
        await person.api('get', 'calls/reports/grouped?group_by=day&call_category=inbound')
      ).body;
      const all = person.panel('Report').locator('tfoot tr :is(td, th)');
      await all.first().waitFor();
      expect((await all.allInnerTexts())[1]).toBe(String(totals.calls));
    },
  },
  ...SHARED,
];

const openBuyer = async (person: Person): Promise<void> => {
  await person.open('Buyers');
  await person.follow(/^Acme/);
  await person.page.getByRole('heading', { level: 1, name: /^Acme/ }).waitFor();
  await settled(person.page);
};
