import { inBrowser } from '../../support/browser';
import { goTo, panel, settled, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';
import { consoleForEveryone } from '../../console/everyone';

// The console in a browser, on the real service: it shows the numbers that the API gives, does what
// its buttons say, shows no caller more than the API does, and is accessible. `withPage` counts
// requests to other servers and what the content security policy refuses: none.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo, readPanelText } = useConsole();

inBrowser('a call: its story, each buyer with the reason, and another one at another hour', () =>
  asDemo(async (page) => {
    const id = here.calls.paid;
    await goTo(page, `#/calls/${id}`);
    const [{ call_events }, { decisions }] = [
      await get(`calls/${id}/events`),
      await get(`calls/${id}/decision`),
    ];
    const story = await panel(page, 'What happened').locator('li b').allInnerTexts();
    expect(story).toEqual(
      call_events.map(({ event }: { event: string }) => event.replaceAll('_', ' ')),
    );
    const [{ candidates, caps }] = decisions;
    const why = await readPanelText(page, 'Why it went there');
    for (const { name, message } of candidates) {
      expect(why).toContain(name);
      if (message) expect(why).toContain(message);
    }
    for (const { used, limit } of caps)
      expect(why).toMatch(new RegExp(`\\$?${used}(\\.00)? / \\$?${limit}`));
    const whatIf = panel(page, 'What if');
    await whatIf.getByLabel('Tokens').fill('state=NY');
    await whatIf.getByLabel('The call came at').fill('2030-01-07T18:00');
    const explainResponse = page.waitForResponse('**/api/v1/routing/explain');
    await whatIf.getByRole('button', { name: 'Explain' }).click();
    const { decision } = (await (await explainResponse).json()) as {
      decision: (typeof decisions)[0];
    };
    await whatIf.getByText('Decided for').waitFor(LOADED);
    const explained = await whatIf.innerText();
    for (const { message } of decision.candidates)
      if (message) expect(explained).toContain(message);
    expect(explained).not.toContain(decisions[0].seed);
    const weights = panel(page, 'What if weights were different');
    await weights.getByLabel('Acme Insurance, Los Angeles').fill('1');
    const replayed = page.waitForResponse('**/api/v1/routing/simulate');
    await weights.getByRole('button', { name: 'Simulate' }).click();
    const answer = await replayed;
    expect(answer.request().postDataJSON().changes).toContainEqual(
      expect.objectContaining({ weight: 1 }),
    );
    const { simulation } = (await answer.json()) as { simulation: { calls: number } };
    await weights.getByText(`${simulation.calls} calls were replayed.`).waitFor(LOADED);
  }),
);

inBrowser('a call that was not paid says why, and the reports count it', () =>
  asDemo(async (page) => {
    const create = async (path: string, body: object) => {
      const res = await here.api('post', path, { body });
      return res.body[res.body.metadata.root].id as number;
    };
    const buyer = await create('buyers', {
      name: 'Short talks',
      number: '+12125550177',
      current_conversion_duration: 60,
      current_conversion_revenue: 5,
    });
    const offer = await create('offers', { name: 'Short talks', buyer_ids: [buyer] });
    const id = await create('call_sessions', { offer_id: offer, caller_number: '+12125550125' });
    for (const body of [{ event: 'answered' }, { event: 'completed', duration: 45 }])
      await here.api('post', `call_sessions/${id}/events`, { body });
    const { billing } = await get(`calls/${id}/decision`);
    expect(billing.reason).toBe('too_short');
    await goTo(page, `#/calls/${id}`);
    const why = await readPanelText(page, 'Why it was not paid');
    expect(why).toContain(billing.message);
    await goTo(page, '#/reports');
    const counts = await readPanelText(page, 'Why calls were not paid');
    const { totals } = await get('calls/reports?call_category=inbound');
    expect(counts).toMatch(new RegExp(`too short\\s+${totals.unbilled_reasons.too_short}`));
  }),
);

inBrowser('a lead: what happened and what will, in the words of the API; opting out', () =>
  asDemo(async (page) => {
    await goTo(page, '#/leads');
    await page.getByRole('row', { name: 'Maria Lopez' }).getByRole('link').click();
    const { timeline } = await get(`leads/${here.lead}/timeline`);
    const future = panel(page, 'What will happen');
    await future.waitFor(LOADED);
    const actions = await future.locator('li b').allInnerTexts();
    expect(actions).toEqual(
      timeline.future.map(({ action }: { action: string }) => action.replaceAll('_', ' ')),
    );
    expect(actions.length).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Call now' }).click();
    await page.getByText(/^Call \d+ is placed\.$/).waitFor(LOADED);
    const placed = (await get(`calls?lead_id=${here.lead}`)).metadata.total_count;
    expect(placed).toBe(1);
    await settled(page);
    await page.getByRole('button', { name: 'Move to the end' }).click();
    await page.getByText('It goes on with the steps at the end').waitFor(LOADED);
    const logs = (await get(`lead_logs?lead_id=${here.lead}`)).lead_logs as { event: string }[];
    expect(logs.map(({ event }) => event)).toContain('moved_to_end');
    await settled(page);
    await page.getByRole('button', { name: 'Opt out' }).click();
    await page.getByRole('button', { name: 'Opt in again' }).waitFor(LOADED);
    expect((await get(`leads/${here.lead}`)).lead.opt_out).toBe(true);
    expect(await readPanelText(page, 'What happened')).toContain('opted out');
  }),
);

consoleForEveryone(() => here);
