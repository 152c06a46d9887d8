import { findOne, pick, read, type Person, type Task } from './person';

// Buyers, offers, sources and numbers.

const NUMBER = { 'Sends calls to': '(312) 555-0188' };

type Texts = Readonly<Record<string, string>>;

/** Makes a record by its form, with the texts of its fields. */
const makeCreator =
  (view: string, singular: string, usual: Texts = {}) =>
  async (person: Person, name: string, fields = usual): Promise<number> => {
    await person.open(view);
    await person.follow(`New ${singular}`);
    await person.type('Name', name);
    for (const [label, text] of Object.entries(fields)) await person.type(label, text);
    await person.press(`Create the ${singular}`);
    return person.created(name);
  };

export const createBuyer = makeCreator('Buyers', 'buyer', NUMBER);
export const createOffer = makeCreator('Offers', 'offer');
export const createSource = makeCreator('Traffic sources', 'traffic source');

/** On the page of an offer. */
export async function assignBuyers(person: Person, names: readonly string[]): Promise<void> {
  const buyers = person.panel('Buyers, in the order in which calls try them');
  for (const name of names) {
    await person.find('Add a buyer', name);
    await buyers.getByRole('link', { name }).waitFor();
  }
}

/** Enters a number that the company has, with what it leads to. */
export async function enterNumber(person: Person, number: string, targets: Texts): Promise<number> {
  await person.open('Numbers');
  await person.follow('New phone number');
  await person.follow('Enter a number you have');
  await person.type('Number', number);
  for (const [label, name] of Object.entries(targets)) await person.find(label, name);
  await person.press('Enter the number');
  return person.created(number);
}

async function changeBuyer(person: Person): Promise<void> {
  const id = await createBuyer(person, person.named('Lakeside Roofing'));
  await person.type('Time zone', 'America/Chicago');
  await person.type('Pays for a call', '32.5');
  await person.type('If it lasts at least', '60');
  await person.type('Dialed in a day', '100');
  await person.type('Calls at once', '3');
  const hours = person.panel('Hours');
  await person.press('Mon–Fri 9 to 5', hours);
  await person.type('Saturday', '10am-2pm', hours);
  const filters = person.panel('Filters and geography');
  await person.press('Add a filter', filters);
  await person.type('Filter 1: token', 'age');
  await person.select('Filter 1: comparison', 'is at least');
  await person.type('Filter 1: value', '18');
  await person.press('Choose', filters);
  await person.tick('IL', filters);
  await person.press('Save');
  await person.sees('Saved.');
  const buyer = await read(person, `buyers/${id}?serializer=buyer_grid`, 'buyer');
  expect(buyer).toMatchObject({
    time_zone: 'America/Chicago',
    bid_price: 32.5,
    current_conversion_duration: 60,
    attempt_daily_limit: 100,
    concurrency_cap_limit: 3,
    record_token_filter_data: ['age:>=18'],
    states: ['IL'],
  });
  expect(buyer.business_hours_schedule[0].schedule).toContainEqual({
    day: 6,
    times: ['10:00..13:59'],
  });
}

export const ROUTING_TASKS: readonly Task[] = [
  {
    name: 'create a buyer',
    do: async (person) => {
      const name = person.named('Prairie Solar');
      const id = await createBuyer(person, name);
      expect(await read(person, `buyers/${id}`, 'buyer')).toMatchObject({
        name,
        number: '+13125550188',
      });
    },
  },
  {
    name: 'create an offer',
    do: async (person) => {
      const name = person.named('Solar');
      const id = await createOffer(person, name);
      expect(await read(person, `offers/${id}`, 'offer')).toMatchObject({ name, paused: false });
    },
  },
  {
    name: 'create a traffic source',
    do: async (person) => {
      const name = person.named('Autumn ads');
      const id = await createSource(person, name);
      expect(await read(person, `traffic_sources/${id}`, 'traffic_source')).toMatchObject({ name });
    },
  },
  {
    name: 'enter a number',
    do: async (person) => {
      const number = pick(person, '+13105550161', '+13105550162');
      const id = await enterNumber(person, number, { Offer: 'Auto insurance' });
      expect(await read(person, `phone_numbers/${id}`, 'number')).toMatchObject({
        phone_number: number,
        offer: 'Auto insurance',
      });
    },
  },
  {
    name: 'buy a number',
    do: async (person) => {
      const name = person.named('Billboard');
      await person.open('Numbers');
      await person.follow('New phone number');
      await person.type('Begins with', '213');
      await person.press('Search');
      const first = person.page.getByRole('button', { name: /^Buy \+1213/ }).first();
      await first.waitFor();
      const number = (await first.getAttribute('aria-label'))!.slice('Buy '.length);
      await person.press(`Buy ${number}`);
      const question = person.page.getByRole('dialog');
      await person.type('Label', name, question);
      await person.find('Offer', 'Auto insurance', question);
      await person.press(`Buy ${number}`, question);
      const id = await person.created(name);
      expect(await read(person, `phone_numbers/${id}`, 'number')).toMatchObject({
        phone_number: number,
        offer: 'Auto insurance',
      });
    },
  },
  {
    name: 'assign buyers to an offer',
    do: async (person) => {
      const id = await createOffer(person, person.named('Roofing'));
      await assignBuyers(person, ['Hudson Home', 'Harbor night desk']);
      const { buyer_ids: ids } = await read(person, `offers/${id}`, 'offer');
      const names = await Promise.all(
        ids.map(async (buyer: number) => (await read(person, `buyers/${buyer}`, 'buyer')).name),
      );
      expect(names.sort()).toEqual(['Harbor night desk', 'Hudson Home']);
    },
  },
  { name: 'change caps, price, hours, filters and geography', do: changeBuyer },
  {
    name: 'pause a buyer and undo it, pause an offer',
    do: async (person) => {
      const buyer = await createBuyer(person, person.named('Sleepy'));
      const isPaused = async () => (await read(person, `buyers/${buyer}`, 'buyer')).paused;
      await person.press('Pause');
      await person.page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await isPaused()).toBe(true);
      await person.press('Undo');
      await person.page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
      expect(await isPaused()).toBe(false);
      const offer = await createOffer(person, person.named('Sleepy offer'));
      await person.press('Pause');
      await person.page.getByRole('button', { name: 'Resume' }).waitFor();
      expect((await read(person, `offers/${offer}`, 'offer')).paused).toBe(true);
    },
  },
  {
    name: 'invite a publisher',
    do: async (person) => {
      const email = `pat.${person.hands.name}@publisher.example`;
      const name = person.named('Pat’s pages');
      const id = await createSource(person, name, { 'Invite these people': `${email},` });
      const user = await findOne(person, `users?fulltext=${encodeURIComponent(email)}`);
      expect(user.email).toBe(email);
      const [team] = user.team_ids;
      const path = `access_control_lists/${team}`;
      expect(await read(person, path, 'access_control_list')).toMatchObject({
        traffic_source_ids: [id],
        superuser: false,
      });
    },
  },
];
