import type { Page } from 'playwright-core';
import { invitationToken } from '../../../src/api/auth/invitations';
import { buildSignInToken } from '../../../src/domain/people/sign-in/mailed-links';
import { makeOwnerToken } from '../../../src/domain/people/sign-in/owner';
import { expectAccessible, expectAccessibleInBothThemes, SIZES } from '../../support/accessibility';
import { showCode } from '../../support/authenticator-app';
import { DESKTOP, inBrowser, withPage } from '../../support/browser';
import { createPerson, openBrowser, PASSWORD } from '../../support/console-session';
import {
  goTo,
  panel,
  signInByPassword,
  until,
  useConsole,
  waitForConsole,
} from '../../support/console';
import { FAR_MS } from '../../support/patience';

// People sign in at the console without a key: each way, with its steps, through the real service.

const LOADED = { timeout: FAR_MS };
const { here, get, readCompany } = useConsole({
  SMTP_URL: 'smtp://127.0.0.1:9',
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_CLIENT_ID: 'trunkline',
  OIDC_NAME: 'Acme ID',
});

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click(LOADED);
const fill = (page: Page, label: string, value: string) =>
  page.getByLabel(label, { exact: true }).fill(value, LOADED);
const readHash = (page: Page) => page.evaluate('location.hash');
/** Opens a link in a page that is open, as a person does who pastes it. */
const follow = (page: Page, hash: string) =>
  page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
/** A browser remembers how a person likes the console, and that a company is set up. */
const PREFERENCES = /^trunkline\.(theme|zone|set-up|columns)/;
const expectNoCredentialStored = async (page: Page) => {
  const stored = await page.evaluate<[string, string][]>(
    '[...Object.entries(localStorage), ...Object.entries(sessionStorage)]',
  );
  expect(stored.filter(([name, value]) => !PREFERENCES.test(name) || value.length > 40)).toEqual(
    [],
  );
};
const makeOwnerLink = async () => {
  const { id } = await readCompany();
  const { deps } = here.world;
  return `#/owner?token=${await makeOwnerToken(deps.tenants.of(id), deps.pepper)}`;
};
const baseUrl = () => `http://127.0.0.1:${(here.server.address() as { port: number }).port}`;
const createUser = async (email: string, body: object = {}) =>
  (await here.api('post', 'users', { body: { email, ...body } })).body.user.id as number;

/** Ends the sessions of a user in the API, as another user of the company would. */
const endSessions = async (email: string) => {
  const { users } = await get('users');
  const { id } = users.find((user: { email: string }) => user.email === email);
  const { access_tokens: tokens } = await get('access_tokens');
  const own = tokens.filter(
    (token: { kind: string; user_id: number }) => token.kind === 'session' && token.user_id === id,
  );
  expect(own.length).toBeGreaterThan(0);
  for (const token of own)
    expect((await here.api('delete', `access_tokens/${token.id}`)).status).toBe(200);
};

inBrowser('an owner signs in by a link, sets up a second factor and ends another session', () =>
  withPage(
    here.server,
    '/console/#/buyers',
    DESKTOP,
    async (page) => {
      await page.getByLabel('E-mail address').waitFor(LOADED);
      await follow(page, await makeOwnerLink());
      await page.getByRole('heading', { name: /^Become the owner of/ }).waitFor(LOADED);
      // Neither the address nor the history has the token.
      expect(await readHash(page)).toBe('#/');
      await fill(page, 'E-mail address', 'owner@example.com');
      await fill(page, 'Your name', 'Olive Owner');
      await fill(page, 'New password', 'aaaaaaaaaaaaaaaa');
      await press(page, 'Sign in');
      await page.getByText('It must not repeat the same few characters.').waitFor(LOADED);
      await fill(page, 'New password', PASSWORD);
      await press(page, 'Sign in');
      await waitForConsole(page);
      await page.getByText('Olive Owner').waitFor(LOADED);
      const other = openBrowser({ base: baseUrl() });
      expect((await other.signIn('owner@example.com')).status).toBe(201);

      await goTo(page, '#/me');
      await press(page, 'Set it up');
      const secret = (await page.locator('span.code').innerText(LOADED)).replace(/\s/g, '');
      expect(await page.getByRole('img', { name: 'QR code' }).isVisible()).toBe(true);
      await fill(page, 'Code', showCode(secret, new Date()));
      await press(page, 'Turn it on');
      const list = page.getByLabel('Recovery codes').locator('li');
      await list.first().waitFor(LOADED);
      const codes = await list.allInnerTexts();
      expect(new Set(codes).size).toBe(10);
      await press(page, 'I have kept them');
      await page.getByText('10 recovery codes are left.').waitFor(LOADED);

      await goTo(page, '#/buyers');
      await press(page, 'Sign out');
      await signInByPassword(page, 'owner@example.com', 'not the password at all');
      await page.getByText('The address or the password is wrong.').waitFor(LOADED);
      await signInByPassword(page, 'owner@example.com');
      await fill(page, 'Code', '000000');
      await press(page, 'Go on');
      await page.getByText(/^It is wrong, was used already/).waitFor(LOADED);
      // The code of the next half minute: that of the first has counted.
      await fill(page, 'Code', showCode(secret, new Date(Date.now() + 30_000)));
      await press(page, 'Go on');
      await waitForConsole(page);
      expect(await readHash(page)).toBe('#/buyers');
      await expectNoCredentialStored(page);

      await goTo(page, '#/me');
      const sessions = panel(page, 'Where you are signed in');
      // Its own, that of the link has ended with signing out, and that of the other browser.
      await sessions.getByText('this one').waitFor(LOADED);
      expect((await other.send('get', 'me')).status).toBe(200);
      await sessions.getByRole('button', { name: /^End session/ }).click();
      await sessions.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
      const refused = await other.send('get', 'me');
      expect([refused.status, refused.body.code]).toEqual([401, 'session_ended']);

      // A session that is ended elsewhere leads to the sign-in page, and back to the place.
      await goTo(page, '#/offers');
      await endSessions('owner@example.com');
      await page.reload();
      await signInByPassword(page, 'owner@example.com');
      await fill(page, 'Code', codes[0]!);
      await press(page, 'Go on');
      await waitForConsole(page);
      expect(await readHash(page)).toBe('#/offers');
      await goTo(page, '#/me');
      await page.getByText('9 recovery codes are left.').waitFor(LOADED);
      await page.getByText('Turn it off').click();
      await page.getByLabel('Code', { exact: true }).last().fill(codes[1]!);
      await press(page, 'Turn the second factor off');
      await page.getByText('With it, a password alone').waitFor(LOADED);
      const { users } = await get('users');
      const user = users.find(({ email }: { email: string }) => email === 'owner@example.com');
      expect(user).toMatchObject({ name: 'Olive Owner', has_second_factor: false });
    },
    [401, 422],
  ),
);

inBrowser(
  'a session that ends under a page asks to sign in, and goes on at the place',
  async () => {
    const person = await createPerson(here.world, await readCompany(), 'kim@example.com');
    await withPage(
      here.server,
      '/console/#/buyers',
      DESKTOP,
      async (page) => {
        const stream = page.waitForRequest(/\/console\/api\/v1\/events\/stream$/, LOADED);
        await signInByPassword(page, person.email);
        await waitForConsole(page);
        // The page's own requests keep no session alive.
        expect((await stream).headers()).toMatchObject({ 'x-background': 'true' });
        await endSessions(person.email);
        await follow(page, '#/offers');
        await page.getByText('Your session has ended.').waitFor(LOADED);
        await signInByPassword(page, person.email);
        await waitForConsole(page);
        expect(await readHash(page)).toBe('#/offers');
        await goTo(page, '#/me');
        await fill(page, 'New password', 'another horse, another staple');
        await panel(page, 'Password').getByLabel('Present password').fill('not mine at all');
        await press(page, 'Change the password');
        // A wrong password is no end of the session.
        await page.getByText('It is not your password.').waitFor(LOADED);
        await panel(page, 'Password').getByLabel('Present password').fill(PASSWORD);
        await press(page, 'Change the password');
        await page.getByText('Changed.').waitFor(LOADED);
        const other = openBrowser({ base: baseUrl() });
        expect((await other.signIn(person.email)).status).toBe(401);
        expect((await other.signIn(person.email, 'another horse, another staple')).status).toBe(
          201,
        );
      },
      [401],
    );
  },
);

inBrowser(
  'what is typed when a session ends is back for the same person, and for no other',
  async () => {
    const company = await readCompany();
    const mia = await createPerson(here.world, company, 'mia@example.com');
    const noa = await createPerson(here.world, company, 'noa@example.com');
    const [buyer] = (await get('buyers')).buyers;
    const path = `/console/#/buyers/${buyer.id}`;
    const readBuyer = async () => (await get(`buyers/${buyer.id}`)).buyer;
    await withPage(
      here.server,
      path,
      DESKTOP,
      async (page) => {
        const name = page
          .getByRole('region', { name: 'Buyer' })
          .getByLabel('Name', { exact: true });
        const expectEnded = () =>
          page.getByText('Your changes are kept until then.').waitFor(LOADED);
        await signInByPassword(page, mia.email);
        await name.fill('Renamed', LOADED);
        await page.getByLabel('Weight within its priority').fill('7');
        await endSessions(mia.email);
        await press(page, 'Save');
        await expectEnded();
        // Somebody else is faster with one of the fields.
        await here.api('put', `buyers/${buyer.id}`, { body: { name: 'Theirs' } });
        await signInByPassword(page, mia.email);
        await page.getByText('Your changes are back.').waitFor(LOADED);
        const clash = page.getByRole('alert', { name: 'Changed by somebody else' });
        await clash.getByRole('button', { name: 'Mine' }).click();
        await press(page, 'Save');
        await until(page, `!document.querySelector('.save-bar')`);
        expect(await readBuyer()).toMatchObject({ name: 'Renamed', weight: 7 });

        await name.fill('Not for others');
        await endSessions(mia.email);
        await page.evaluate(`dispatchEvent(new Event('focus'))`);
        await expectEnded();
        await page.reload();
        await signInByPassword(page, noa.email);
        await name.waitFor(LOADED);
        expect(await name.inputValue()).toBe('Renamed');
        await expectNoCredentialStored(page);
        await press(page, 'Sign out');
        await signInByPassword(page, mia.email);
        await name.waitFor(LOADED);
        expect(await name.inputValue()).toBe('Renamed');

        // A provider of sign-in is another page, as a reload is.
        await name.fill('After a reload');
        await endSessions(mia.email);
        await page.evaluate(`dispatchEvent(new Event('focus'))`);
        await expectEnded();
        await page.reload();
        await signInByPassword(page, mia.email);
        await page.getByText('Your changes are back.').waitFor(LOADED);
        expect(await name.inputValue()).toBe('After a reload');
        await expectNoCredentialStored(page);
      },
      [401],
    );
  },
);

inBrowser('an invited user of a limited team chooses a password, and sees what the team may', () =>
  withPage(
    here.server,
    '/console/',
    DESKTOP,
    async (page) => {
      const { access_control_list: team } = (
        await here.api('post', 'access_control_lists', {
          body: { name: 'Readers', permissions: ['buyers:read'] },
        })
      ).body;
      const id = await createUser('ina@example.com', { invite: true, team_ids: [team.id] });
      const { id: companyId } = await readCompany();
      const target = { company_id: companyId, user_id: BigInt(id), number: 1 };
      const link = `#/invitation?token=${invitationToken(target, here.world.deps.pepper)}`;
      await follow(page, link);
      await page.getByRole('heading', { name: /invites ina@example\.com$/ }).waitFor(LOADED);
      expect(await readHash(page)).toBe('#/');
      expect(await page.getByText('At least 12 characters').isVisible()).toBe(true);
      await fill(page, 'Your name', 'Ina');
      await fill(page, 'New password', PASSWORD);
      await press(page, 'Sign in');
      await waitForConsole(page);
      const views = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
      expect(await views.allInnerTexts()).toEqual(['Now', 'Buyers', 'My account']);
      await expectNoCredentialStored(page);
      expect((await get(`users/${id}`)).user).toMatchObject({ name: 'Ina', has_password: true });
      // A link works once.
      await follow(page, link);
      await page.getByRole('alert').waitFor(LOADED);
      await press(page, 'Go on without this link');
      await waitForConsole(page);
    },
    [401],
  ),
);

inBrowser('a link by mail signs in after a click, and a user of two companies chooses one', () =>
  withPage(here.server, '/console/', DESKTOP, async (page) => {
    const company = await readCompany();
    const { id } = await createPerson(here.world, company, 'lee@example.com');
    const second = await here.world.addCompany('Second Company');
    await createPerson(here.world, second, 'lee@example.com');
    await press(page, 'Forgot your password? Get a link by mail');
    await fill(page, 'E-mail address', 'lee@example.com');
    await press(page, 'Send me a link');
    await page.getByText('a mail with a link is on its way').waitFor(LOADED);
    const person = { company_id: company.id, user_id: BigInt(id) };
    const token = buildSignInToken(person, 1, here.world.deps.pepper);
    await until(page, `!document.querySelector('form')`);
    await follow(page, `#/link?token=${token}`);
    await press(page, 'Sign in');
    await waitForConsole(page);
    await press(page, 'Sign out');
    await signInByPassword(page, 'lee@example.com');
    await press(page, 'Second Company');
    await waitForConsole(page);
    expect(await page.locator('.who').innerText()).toMatch(/^Second Company/);
  }),
);

inBrowser(
  'the provider of OpenID Connect is offered with the way back, and a refusal explained',
  () =>
    withPage(here.server, '/console/#/calls?status=open', DESKTOP, async (page) => {
      const button = page.getByRole('link', { name: 'Sign in with Acme ID' });
      expect(await button.getAttribute('href', LOADED)).toBe(
        '/console/sign-in/oidc?return_to=%23%2Fcalls%3Fstatus%3Dopen',
      );
      await follow(page, '#/sign-in?error=oidc_unknown_user');
      await page.getByText('There is no user here with your confirmed address.').waitFor(LOADED);
    }),
);

inBrowser.each(Object.entries(SIZES))(
  'the pages of signing in are accessible on a %s in light and dark, and fit it',
  (size, viewport) =>
    withPage(
      here.server,
      '/console/',
      viewport,
      async (page) => {
        const email = `axe-${size}@example.com`;
        const person = await createPerson(here.world, await readCompany(), email);
        await page.getByLabel('E-mail address').waitFor(LOADED);
        await expectAccessibleInBothThemes(page, 'sign-in');
        await signInByPassword(page, email, 'not the password at all');
        await page.getByRole('alert').waitFor(LOADED);
        await expectAccessibleInBothThemes(page, 'sign-in, refused');
        await follow(page, await makeOwnerLink());
        await page.getByRole('heading', { name: /^Become the owner/ }).waitFor(LOADED);
        await expectAccessibleInBothThemes(page, 'owner');
        await press(page, 'Go on without this link');
        await signInByPassword(page, email);
        await waitForConsole(page);
        await goTo(page, '#/me');
        await expectAccessibleInBothThemes(page, 'account');
        await panel(page, 'Second factor').getByLabel('Present password').fill(PASSWORD);
        await press(page, 'Set it up');
        const secret = (await page.locator('span.code').innerText(LOADED)).replace(/\s/g, '');
        await expectAccessibleInBothThemes(page, 'QR code');
        await fill(page, 'Code', showCode(secret, new Date()));
        await press(page, 'Turn it on');
        await page.getByLabel('Recovery codes').waitFor(LOADED);
        await expectAccessibleInBothThemes(page, 'recovery codes');
        await press(page, 'Sign out');
        await signInByPassword(page, email);
        await page.getByLabel('Code', { exact: true }).waitFor(LOADED);
        await expectAccessible(page, 'code');
        expect((await get(`users/${person.id}`)).user.has_second_factor).toBe(true);
      },
      [401],
    ),
);
