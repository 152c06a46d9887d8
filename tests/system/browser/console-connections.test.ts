import type { Page } from 'playwright-core';
import { startWebhooks } from '../../../src/main/background/start';
import { inBrowser } from '../../support/browser';
import { createdId, goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';
import { startReceiver } from '../../support/receiver';

// Webhooks, alerts and switches in the console: each task ends with the record that the API shows.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' });

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
/** Reads the secret that a dialog shows once, and dismisses it. */
async function takeSecret(page: Page, name: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'Copy this now' });
  const secret = await dialog.getByLabel(name, { exact: true }).inputValue(LOADED);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await dialog.waitFor({ ...LOADED, state: 'detached' });
  return secret;
}

inBrowser('a webhook: made, previewed, tried with a call, and failed events sent again', () =>
  asDemo(async (page) => {
    let status = 500;
    const receiver = await startReceiver(() => status);
    const running = startWebhooks(here.world.deps, { delays: [3_600_000] });
    try {
      await goTo(page, '#/outgoing_webhooks/new');
      await page.getByLabel('Name').fill('CRM', LOADED);
      await page.getByLabel('Sent when').selectOption('every_call');
      await page.getByRole('textbox', { name: 'To', exact: true }).fill(receiver.url);
      await page.getByLabel('Events', { exact: true }).selectOption('Offer');
      await page.getByLabel('Which', { exact: true }).click();
      await page.getByRole('option', { name: new RegExp(`#${here.offer.id}$`) }).click(LOADED);
      await page
        .getByRole('textbox', { name: 'Body' })
        .fill('{"from":"{{caller_number}}","state":"[state]{none}"}');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('"state":"CA"').waitFor(LOADED);
      await page.getByRole('button', { name: 'Create the webhook' }).click();
      expect(await takeSecret(page, 'Secret that signs the requests')).toMatch(/^whsec_/);
      await heading(page, 'CRM').waitFor(LOADED);
      const id = await createdId(page);
      expect((await get(`outgoing_webhooks/${id}`)).outgoing_webhook).toMatchObject({
        trigger_type: 'every_call',
        owner_type: 'Offer',
        owner_id: here.offer.id,
        url: receiver.url,
      });
      await page.getByRole('button', { name: 'Send with the newest call' }).click();
      await panel(page, 'Try it').getByText('failed · 500').waitFor(LOADED);
      const [log] = (await get(`webhook_logs?outgoing_webhook_id=${id}`)).webhook_logs;
      expect(JSON.parse(log.request_body)).toEqual({ from: '+12125550124', state: 'CA' });
      await panel(page, 'Last deliveries').getByText('failed · 500').waitFor(LOADED);
      status = 200;
      await page.getByRole('button', { name: 'Send all failed again' }).click();
      await page.getByText('1 event is sent again.').waitFor(LOADED);
      await panel(page, 'Last deliveries').getByText('accepted · 200').waitFor(LOADED);
      // One delivery, with both bodies, and again by hand.
      await goTo(page, `#/webhook_logs?outgoing_webhook_id=${id}&success=false`);
      await page
        .getByRole('row', { name: /Fired by hand failed · 500/ })
        .getByRole('link')
        .first()
        .click();
      await panel(page, 'Request and answer').getByText('"+12125550124"').waitFor(LOADED);
      await page.getByRole('button', { name: 'Send again' }).click();
      await until(page, `document.body.innerText.includes('It is sent again.')`);
      await goTo(page, `#/outgoing_webhooks/${id}`);
      await until(
        page,
        `[...document.querySelectorAll('td')].filter(({ innerText }) => innerText === 'accepted · 200').length === 2`,
      );
      expect(receiver.received.map(({ answered }) => answered)).toEqual([500, 200, 200]);
      await page.getByRole('button', { name: 'New secret' }).click();
      expect(await takeSecret(page, 'Secret that signs the requests')).toMatch(/^whsec_/);
      expect((await get(`outgoing_webhooks/${id}`)).outgoing_webhook.secret_version).toBe(2);
    } finally {
      await running.stop();
      await receiver.close();
    }
  }),
);

inBrowser('an inbound webhook: its token is shown once, its instructions have its addresses', () =>
  asDemo(async (page) => {
    await goTo(page, `#/inbound_webhooks/new?offer_id=${here.offer.id}`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Partner', LOADED);
    await page.getByLabel('Last part of its address').fill('auto-partner');
    await page.getByRole('button', { name: 'Create the inbound webhook' }).click();
    const token = await takeSecret(page, 'Token for senders');
    const instructions = panel(page, 'Posting instructions').first();
    await instructions.getByText('/api/v1/inbound_webhooks/ping/auto-partner').waitFor(LOADED);
    const ping = await here.api('post', 'inbound_webhooks/ping/auto-partner', {
      auth: null,
      body: { auth_token: token, caller_id: '+12125550188', data: { state: 'CA' } },
    });
    expect(ping.body.success).toBe(true);
    await page.getByRole('button', { name: 'New token' }).click();
    expect(await takeSecret(page, 'Token for senders')).not.toBe(token);
  }),
);

inBrowser('an alert rule has the fields of its kind, and a copy keeps them', () =>
  asDemo(async (page) => {
    await goTo(page, '#/alert_rules/new');
    await page.getByLabel('Name').fill('Errors', LOADED);
    await page.getByLabel('Alert when').selectOption('cap_used');
    await page.getByLabel('Percent').fill('90');
    // Another kind has no percentage: what was typed is not sent.
    await page.getByLabel('Alert when').selectOption('carrier_errors');
    expect(await page.getByLabel('Percent').count()).toBe(0);
    await page.getByLabel('Within the last').fill('10');
    await page.getByLabel('At least this many').fill('5');
    await page.getByRole('button', { name: 'Create the alert rule' }).click();
    await heading(page, 'Errors').waitFor(LOADED);
    const id = await createdId(page);
    expect((await get(`alert_rules/${id}`)).alert_rule).toMatchObject({
      kind: 'carrier_errors',
      minutes: 10,
      count: 5,
      percent: null,
    });
    // A stored field of the kind before is emptied.
    await page.getByLabel('Alert when').selectOption('webhook_paused');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(page, `!document.querySelector('.save-bar')`);
    expect((await get(`alert_rules/${id}`)).alert_rule).toMatchObject({
      kind: 'webhook_paused',
      minutes: null,
      count: null,
    });
    await page.getByLabel('Alert when').selectOption('no_calls');
    await page.getByLabel('Within the last').fill('30');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(page, `!document.querySelector('.save-bar')`);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Create the alert rule' }).click(LOADED);
    await heading(page, 'Errors (copy)').waitFor(LOADED);
    expect((await get(`alert_rules/${await createdId(page)}`)).alert_rule).toMatchObject({
      kind: 'no_calls',
      minutes: 30,
    });
    // A number that its kind needs is there before one thinks of it.
    await goTo(page, '#/alert_rules/new');
    await page.getByLabel('Name').fill('Caps', LOADED);
    await page.getByLabel('Alert when').selectOption('cap_used');
    await page.getByRole('button', { name: 'Create the alert rule' }).click();
    await heading(page, 'Caps').waitFor(LOADED);
    expect((await get(`alert_rules/${await createdId(page)}`)).alert_rule).toMatchObject({
      kind: 'cap_used',
      percent: 80,
      minutes: null,
    });
    await goTo(page, '#/alerts');
    await panel(page, 'Open now').getByText('Nothing is wrong.').waitFor(LOADED);
  }),
);

inBrowser('a switch with its secret and its trunk', () =>
  asDemo(async (page) => {
    await goTo(page, '#/switches/new');
    await page.getByLabel('Name').fill('tampa-1', LOADED);
    await page.getByRole('button', { name: 'Create the switch' }).click();
    expect(await takeSecret(page, 'Secret that signs commands')).toMatch(/^whsec_/);
    await panel(page, 'State').getByText('It has not asked for commands yet.').waitFor(LOADED);
    const id = await createdId(page);
    await goTo(page, '#/trunks/new');
    await page.getByLabel('Name').fill('Carrier A', LOADED);
    await page.getByLabel('Gateway').fill('sip.carrier.example:5060');
    await page.getByRole('combobox', { name: 'Switch' }).fill('tampa');
    await page.getByRole('option', { name: /tampa-1/ }).click(LOADED);
    await page.getByLabel('Countries').fill('US,');
    await page.getByLabel('Caller ID').selectOption('fixed');
    await page.getByLabel('The number that is shown').fill('+12125550100');
    await page.getByRole('button', { name: 'Create the trunk' }).click();
    await heading(page, 'Carrier A').waitFor(LOADED);
    expect((await get(`trunks/${await createdId(page)}`)).trunk).toMatchObject({
      switch_id: id,
      host: 'sip.carrier.example:5060',
      countries: ['US'],
      caller_id_rule: 'fixed',
      caller_id: '+12125550100',
    });
    await goTo(page, `#/switches/${id}`);
    await panel(page, 'State').getByRole('link', { name: 'Carrier A' }).waitFor(LOADED);
    await page.getByRole('button', { name: 'New secret' }).click();
    expect(await takeSecret(page, 'Secret that signs commands')).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await heading(page, 'Switches').waitFor(LOADED);
    expect((await get('switches')).switches).toEqual([]);
  }),
);
