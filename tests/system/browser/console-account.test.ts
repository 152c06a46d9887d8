import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser';
import { createPerson } from '../../support/console-session';
import { createdId, goTo, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';
import { caller } from '../../support/world';

// People, their rights and the settings of the company in the console: each task ends with the
// record that the API shows.

const LOADED = { timeout: FAR_MS };
const { here, get, readCompany, asDemo, asPerson } = useConsole();

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

inBrowser('a team by its permissions and records, and a user in it who is invited again', () =>
  asDemo(
    async (page) => {
      await goTo(page, '#/access_control_lists/new');
      await page.getByLabel('Name').fill('Partners of Acme', LOADED);
      await page.getByRole('button', { name: 'Viewer' }).click();
      await page.getByLabel('Keys and sessions: read').uncheck();
      // A tick in front of a row is for all of it.
      await page.getByLabel('Leads', { exact: true }).check();
      await page.getByLabel('Buyers', { exact: true }).last().fill('Acme');
      await page.getByRole('option', { name: /Acme/ }).first().click(LOADED);
      await page.getByRole('button', { name: 'Create the team' }).click();
      await heading(page, 'Partners of Acme').waitFor(LOADED);
      const team = (await get(`access_control_lists/${await createdId(page)}`)).access_control_list;
      expect(team.permissions).toEqual(
        expect.arrayContaining(['buyers:read', 'leads:read', 'leads:create', 'leads:delete']),
      );
      expect(team.permissions).not.toContain('access_tokens:read');
      expect(team.permissions).not.toContain('buyers:update');
      expect(team.buyer_ids.length).toBe(1);
      await goTo(page, '#/users/new');
      await page.getByLabel('E-mail address').fill('ann@example.com', LOADED);
      await page.getByLabel('Teams').fill('Partners');
      await page.getByRole('option', { name: /Partners of Acme/ }).click(LOADED);
      await page.getByLabel('Send an invitation').uncheck();
      await page.getByRole('button', { name: 'Create the user' }).click();
      await heading(page, 'ann@example.com').waitFor(LOADED);
      const id = await createdId(page);
      expect((await get(`users/${id}`)).user).toMatchObject({
        team_ids: [team.id],
        invited_at: null,
      });
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      await page.getByRole('button', { name: 'Invite again' }).waitFor(LOADED);
      expect((await get(`users/${id}`)).user.invited_at).not.toBeNull();
      await goTo(page, '#/users');
      await page
        .getByRole('row', { name: /ann@example.com .*invited.* Partners of Acme/ })
        .waitFor(LOADED);
    },
    [429],
  ),
);

inBrowser(
  'where no mail is sent, the link of an invitation is shown to who may grant it',
  async () => {
    const company = await readCompany();
    const boss = await createPerson(here.world, company, 'boss@example.com');
    const body = { email: 'eve@example.com', invite: true };
    const { user } = (await here.api('post', 'users', { body })).body;
    await asPerson(boss.email, async (page) => {
      await goTo(page, `#/users/${user.id}`);
      await page.getByRole('button', { name: 'Link of the invitation' }).click();
      const dialog = page.getByRole('dialog', { name: 'Copy this now' });
      const link = await dialog.getByLabel('Link of the invitation', { exact: true }).inputValue();
      expect(link).toMatch(/\/console\/#\/invitation\?token=inv-/);
      await dialog.getByRole('button', { name: 'I have copied it' }).click();
      // Who has signed in needs no invitation.
      await goTo(page, `#/users/${boss.id}`);
      await heading(page, boss.email).waitFor(LOADED);
      expect(await page.getByRole('button', { name: /nvit/ }).count()).toBe(0);
      // The page on which somebody is invited says so, and has the link.
      const [source] = (await get('traffic_sources')).traffic_sources;
      await goTo(page, `#/traffic_sources/${source.id}`);
      await page.getByLabel('Invite these people').fill('zoe@ads.example,', LOADED);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(/^zoe@ads\.example is invited\. No mail is sent here/).waitFor(LOADED);
      const people = page.getByRole('list', { name: 'Who may sign in' });
      await people.getByRole('link', { name: 'zoe@ads.example' }).waitFor(LOADED);
      await people.getByText(/^invited .*, not signed in yet$/).waitFor();
      await people.getByRole('button', { name: 'Link of the invitation' }).waitFor();
    });
    // Only a person passes it on, not a key.
    await asDemo(async (page) => {
      await goTo(page, `#/users/${user.id}`);
      await page.getByRole('button', { name: 'Invite again' }).waitFor(LOADED);
      expect(await page.getByRole('button', { name: 'Link of the invitation' }).count()).toBe(0);
    });
  },
);

inBrowser('a key: its secret is shown once and works; revoked, it is refused', () =>
  asDemo(async (page) => {
    await goTo(page, '#/access_tokens/new');
    await page.getByLabel('What it is for').fill('CRM import', LOADED);
    await page.getByLabel('Kind').selectOption('key_pair');
    await page.getByLabel('Buyers: read').check();
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy this now' });
    await dialog.waitFor(LOADED);
    const pair = await Promise.all(
      ['Public key', 'Private key'].map((name) =>
        dialog.getByLabel(name, { exact: true }).inputValue(),
      ),
    );
    const api = caller(here.world.app, pair.join(':'));
    expect((await api('get', 'buyers')).status).toBe(200);
    expect((await api('get', 'offers')).status).toBe(403);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await dialog.waitFor({ ...LOADED, state: 'detached' });
    expect(await page.content()).not.toContain(pair[1]);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await heading(page, 'Keys and sessions').waitFor(LOADED);
    expect((await api('get', 'buyers')).status).toBe(401);
    expect(await page.getByRole('row', { name: /CRM import/ }).count()).toBe(0);
  }),
);

inBrowser('the company is changed, and the change log says from what to what', () =>
  asDemo(async (page) => {
    await goTo(page, '#/company');
    await page.getByLabel('These countries').check(LOADED);
    const countries = page.getByRole('group', { name: 'Countries that may be called and texted' });
    await countries.getByRole('textbox').fill('US,CA,');
    await page.getByLabel('Name').fill('Acme Network');
    await page.getByLabel('HELP', { exact: true }).fill('Acme Network: call us.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor(LOADED);
    const changed = { name: 'Acme Network', help_text: 'Acme Network: call us.' };
    expect((await get('company')).company).toMatchObject({
      ...changed,
      contact_countries: ['US', 'CA'],
      lead_token_powers: null,
    });
    await page.getByLabel('Only your own country').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await until(page, `!document.querySelector('.save-bar')`);
    expect((await get('company')).company.contact_countries).toBeNull();
    await goTo(page, '#/change_logs');
    const row = page.getByRole('row', { name: /Company/ });
    await row.nth(1).getByText('Acme Network', { exact: true }).waitFor(LOADED);
    expect(await row.nth(1).locator('del').first().innerText()).toBe('Demo');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Action').selectOption('delete');
    await row.first().waitFor({ ...LOADED, state: 'detached' });
  }),
);
