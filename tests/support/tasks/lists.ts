import { findOne, pick, read, type Person, type Task } from './person';

// Lists and follow-up.

/** Adds a step to the schedule of the page, with the texts of its fields. */
export async function addStep(
  person: Person,
  kind: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  await person.press('Add a step', person.panel('What happens to a lead'));
  const dialog = person.page.getByRole('dialog', { name: 'New step' });
  await person.select('Kind', kind, dialog);
  for (const [label, text] of Object.entries(fields)) await person.type(label, text, dialog);
  await person.press('Create the step', dialog);
  await dialog.waitFor({ state: 'hidden' });
}

export const LIST_TASKS: readonly Task[] = [
  {
    name: 'make a list from a CSV file',
    do: async (person) => {
      const name = person.named('Los Angeles');
      await person.open('ZIP lists');
      await person.follow('New ZIP list');
      await person.follow('From a CSV file');
      await person.type('Name', name);
      const file = { name: 'zip.csv', text: 'city,plz\nLA,90001\nLA,90002\n' };
      await person.hands.upload(person.page.locator('main input[type=file]'), file);
      await person.type('Column with the values', 'plz');
      await person.press('Create the ZIP list');
      const id = await person.created(name);
      expect(await read(person, `zip_lists/${id}/values`, 'values')).toEqual(['90001', '90002']);
    },
  },
  {
    name: 'upload do-not-call numbers to a new list',
    do: async (person) => {
      const name = person.named('Do not call, November');
      await person.open('Suppression lists');
      await person.follow('New suppression list');
      const text = 'name,mobile,office\nAnn,2135550181,2135550191\nBob,2135550182,\nCy,12,\n';
      await person.upload('File of numbers', { name: 'dnc.csv', text });
      await person.select('Column of the numbers', 'mobile');
      await person.type('Name of the list', name);
      await person.press('Upload');
      await person
        .panel('Rejected rows')
        .getByRole('row', { name: /4\s+12/ })
        .waitFor();
      await person.follow('See the list');
      const id = await person.created(name);
      expect(await read(person, `buyer_suppressions/${id}/caller_ids`, 'caller_ids')).toEqual([
        '+12135550181',
        '+12135550182',
      ]);
    },
  },
  {
    name: 'add a caller to the blacklist',
    do: async (person) => {
      const number = pick(person, '2135550163', '2135550164');
      await person.open('Suppression lists');
      await person.hands.press(person.page.locator('summary', { hasText: 'Block a caller' }));
      await person.type('The caller’s number', number);
      await person.select('Where', 'Everywhere: the company’s blacklist');
      await person.press('Block the caller');
      await person.sees(`${number} is blocked.`);
      const contact = await findOne(person, `contacts?caller_id=%2B1${number}`);
      expect(contact.blocked).toBe(true);
    },
  },
  {
    name: 'make a schedule with three actions',
    do: async (person) => {
      const name = person.named('Home quotes');
      await person.open('Schedules');
      await person.follow('New schedule');
      await person.type('Name', name);
      await person.press('Create the schedule');
      const id = await person.created(name);
      await addStep(person, 'Call the lead');
      await addStep(person, 'Wait', { Wait: '10' });
      await addStep(person, 'Send a text', { Text: 'Hi [first_name]{there}' });
      const actions = await read<Record<string, unknown>[]>(
        person,
        `schedule_actions?schedule_id=${id}&order=position`,
        'schedule_actions',
      );
      expect(actions.map((action) => action.action_type)).toEqual(['dial', 'wait', 'sms']);
      expect(actions[1]!.wait_amount).toBe(10);
    },
  },
  {
    name: 'send a test lead',
    do: async (person) => {
      const number = pick(person, '2135550177', '2135550178');
      await person.open('Leads');
      await person.follow('Test lead');
      await person.find('Schedule', 'New auto leads');
      await person.type('Telephone number', number);
      await person.type('Name', 'Ann Tester');
      await person.type('Tokens', 'zip=90210');
      await person.press('Send the lead');
      await person.panel('What happened').getByRole('listitem').first().waitFor();
      const lead = await findOne(person, `leads?number=${number}`);
      expect(lead).toMatchObject({ full_name: 'Ann Tester', caller_id: `+1${number}` });
      expect(lead.data).toMatchObject({ zip: '90210' });
      await person.follow('The page of the lead');
      await person.page.waitForURL(`**/#/leads/${lead.id}`);
    },
  },
];
