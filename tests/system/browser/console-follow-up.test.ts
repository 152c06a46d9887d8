import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser';
import { createdId, goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Following up on leads in the console: each task ends with the record that the API shows.

const LOADED = { timeout: FAR_MS };
const { get, asDemo } = useConsole();

const timeline = (page: Page) => panel(page, 'What happens to a lead');
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Adds a step by the dialog that a button opens. */
async function addStep(
  page: Page,
  button: string | RegExp,
  kind: string,
  fill: (dialog: ReturnType<Page['getByRole']>) => Promise<void>,
  added = 1,
): Promise<void> {
  const count = await timeline(page).getByRole('listitem').count();
  await timeline(page).getByRole('button', { name: button, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'New step' });
  await dialog.getByLabel('Kind').selectOption(kind);
  await fill(dialog);
  await dialog.getByRole('button', { name: 'Create the step' }).click();
  await dialog.waitFor({ ...LOADED, state: 'hidden' });
  await until(page, `document.querySelectorAll('.step').length === ${count + added}`);
}

inBrowser('a schedule with its steps: made, moved by keyboard and by mouse, changed, paused', () =>
  asDemo(
    async (page) => {
      await goTo(page, '#/schedules');
      await page.getByRole('link', { name: 'New schedule' }).click();
      await page.getByLabel('Name').fill('Home quotes', LOADED);
      await page.getByRole('button', { name: 'Add a trigger' }).click();
      await page.getByLabel('Starts when').selectOption('call_missed');
      await page.getByRole('button', { name: 'Create the schedule' }).click();
      await heading(page, 'Home quotes').waitFor(LOADED);
      const id = await createdId(page);
      await addStep(page, 'Add a step', 'sms', async (dialog) => {
        // A text without a text is refused at its field, and nothing that was typed is lost.
        await dialog.getByLabel('Name', { exact: true }).fill('Welcome');
        await dialog.getByRole('button', { name: 'Create the step' }).click();
        await dialog.getByText('must be given for an action of type sms').waitFor(LOADED);
        await dialog.getByLabel('Text', { exact: true }).fill('Hi [first_name]{there}');
      });
      await addStep(page, 'Add a step', 'dial', async (dialog) => {
        await dialog.getByLabel('Call only while a buyer would take it').uncheck();
      });
      await addStep(page, /^Insert before: Step 2/, 'wait', async (dialog) => {
        await dialog.getByLabel('Wait', { exact: true }).fill('2');
      });
      await addStep(page, 'Add a step for the end', 'opt_out', async () => undefined);
      const steps = () => get(`schedule_actions?schedule_id=${id}&order=position`);
      const kinds = async () =>
        (await steps()).schedule_actions.map(
          ({ action_type }: { action_type: string }) => action_type,
        );
      const { schedule_actions: actions } = await steps();
      expect(
        actions.map((action: Record<string, unknown>) => [
          action.action_type,
          action.end_of_schedule,
          action.wait_amount,
          action.only_when_buyer_available,
        ]),
      ).toEqual(
        expect.arrayContaining([
          ['sms', false, null, null],
          ['wait', false, 2, null],
          ['dial', false, null, false],
          ['opt_out', true, null, null],
        ]),
      );
      expect((await get(`schedules/${id}`)).schedule.triggers).toEqual([
        expect.objectContaining({ on: 'call_missed' }),
      ]);
      // The keyboard moves the step that has the focus, which then keeps it.
      const [regular] = [timeline(page).getByRole('list').first()];
      await regular.getByRole('listitem', { name: 'Step 2: 2 hours later' }).focus();
      await page.keyboard.press('Alt+ArrowUp');
      await regular.getByRole('listitem', { name: 'Step 1: 2 hours later' }).waitFor(LOADED);
      await until(
        page,
        `document.activeElement?.getAttribute('aria-label') === 'Step 1: 2 hours later'`,
      );
      expect((await kinds()).filter((kind: string) => kind !== 'opt_out')).toEqual([
        'wait',
        'sms',
        'dial',
      ]);
      // The mouse drags it back.
      await regular
        .getByRole('listitem', { name: 'Step 1: 2 hours later' })
        .dragTo(regular.getByRole('listitem', { name: 'Step 3: Call the lead' }));
      await regular.getByRole('listitem', { name: 'Step 2: 2 hours later' }).waitFor(LOADED);
      await timeline(page).getByRole('button', { name: 'Edit: Step 2: 2 hours later' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Until a time of the day').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await regular.getByRole('listitem', { name: 'Step 2: At the next 09:00' }).waitFor(LOADED);
      await timeline(page)
        .getByRole('button', { name: 'Delete: Step 1: Opt the number out' })
        .click();
      await timeline(page).getByText('Nothing happens when a lead leaves.').waitFor(LOADED);
      const final = (await steps()).schedule_actions;
      expect(
        final.map((action: Record<string, unknown>) => [
          action.action_type,
          action.wait_amount,
          action.wait_until,
        ]),
      ).toEqual([
        ['sms', null, null],
        ['wait', null, '09:00'],
        ['dial', null, null],
      ]);
      // A copy has the steps too.
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('button', { name: 'Create the schedule' }).click(LOADED);
      await heading(page, 'Home quotes (copy)').waitFor(LOADED);
      const copy = await createdId(page);
      const copied = (await get(`schedule_actions?schedule_id=${copy}&order=position`))
        .schedule_actions;
      const facts = ({ action_type, body, wait_until, position }: (typeof final)[0]) => [
        action_type,
        body,
        wait_until,
        position,
      ];
      expect(copied.map(facts)).toEqual(final.map(facts));
      expect((await get(`schedules/${copy}`)).schedule.triggers).toEqual([
        expect.objectContaining({ on: 'call_missed' }),
      ]);
      await goTo(page, `#/schedules/${id}`);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Undo' }).click(LOADED);
      await page.getByRole('button', { name: 'Pause' }).waitFor(LOADED);
      expect((await get(`schedules/${id}`)).schedule.paused).toBe(false);
      // A step is added with the wait before it; one that is refused leaves none.
      await addStep(
        page,
        /^Insert before: Step 3/,
        'email',
        async (dialog) => {
          await dialog.getByLabel('For some time').check();
          await dialog.getByLabel('Wait', { exact: true }).fill('3');
          await dialog.getByLabel('Unit').selectOption('days');
          await dialog.getByRole('button', { name: 'Create the step' }).click();
          await dialog
            .getByText('must be given for an action of type email')
            .first()
            .waitFor(LOADED);
          expect(await kinds()).toHaveLength(3);
          await dialog.getByLabel('Subject').fill('Still looking?');
          await dialog.getByLabel('Text', { exact: true }).fill('Hi [first_name]{there}');
        },
        2,
      );
      expect(await kinds()).toEqual(['sms', 'wait', 'wait', 'email', 'dial']);
      expect((await steps()).schedule_actions[2]).toMatchObject({
        wait_amount: 3,
        wait_unit: 'days',
      });
      // Hours are typed and read as everywhere, whatever the API has.
      await page.getByLabel('Hours of the lead').fill('9am-6pm');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved.').waitFor(LOADED);
      expect((await get(`schedules/${id}`)).schedule.daylight_hours).toBe('09:00..17:59');
      expect(await page.getByLabel('Hours of the lead').inputValue()).toBe('09:00–18:00');
    },
    [412, 422],
  ),
);

inBrowser('agents: a call center, an agent in it, its status, and a message to it', () =>
  asDemo(async (page) => {
    await goTo(page, '#/call_centers/new');
    await page.getByLabel('Name').fill('Tampa', LOADED);
    await page.getByRole('button', { name: 'Create the call center' }).click();
    await heading(page, 'Tampa').waitFor(LOADED);
    const center = await createdId(page);
    await goTo(page, '#/agents/new');
    await page.getByLabel('Name').fill('Bob', LOADED);
    await page.getByLabel('E-mail address').fill('bob@example.com');
    await page.getByLabel('Call centers').fill('Tampa');
    await page.getByRole('option', { name: /Tampa/ }).click(LOADED);
    await page.getByRole('button', { name: 'Create the agent' }).click();
    await heading(page, 'Bob').waitFor(LOADED);
    const id = await createdId(page);
    await panel(page, 'Status').getByRole('button', { name: 'Available' }).click(LOADED);
    await panel(page, 'Status').getByRole('cell', { name: 'available' }).waitFor(LOADED);
    expect((await get(`agents/${id}`)).agent).toMatchObject({
      user_email: 'bob@example.com',
      status_key: 'available',
      call_center_ids: [center],
    });
    await goTo(page, '#/agents');
    await page.getByRole('row', { name: /Bob available .* Tampa/ }).waitFor(LOADED);
    await goTo(page, '#/agent_messages/new');
    await page.getByLabel('Text').fill('Lunch is at one', LOADED);
    await page.getByLabel('Agents of these call centers').fill('Tampa');
    await page.getByRole('option', { name: /Tampa/ }).click(LOADED);
    await page.getByRole('button', { name: 'Create the message' }).click();
    await heading(page, 'Lunch is at one').waitFor(LOADED);
    const message = (await get(`agent_messages/${await createdId(page)}`)).agent_message;
    expect(message).toMatchObject({ agent_widget_count: 1, call_center_ids: [center] });
    await goTo(page, '#/agent_statuses/new');
    await page.getByLabel('Name').fill('At lunch', LOADED);
    await page.getByRole('textbox', { name: 'Key' }).fill('at_lunch');
    await page.getByLabel('Counts as online').uncheck();
    await page.getByRole('button', { name: 'Create the agent status' }).click();
    await heading(page, 'At lunch').waitFor(LOADED);
    const status = (await get(`agent_statuses/${await createdId(page)}`)).agent_status;
    expect(status).toMatchObject({ key: 'at_lunch', is_online: false });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Agent statuses' }).waitFor(LOADED);
    expect((await get('agent_statuses?fulltext=at_lunch')).agent_statuses).toEqual([]);
  }),
);

inBrowser('a link to copy a record leads to no other request than for that record', () =>
  asDemo(
    async (page) => {
      const paths: string[] = [];
      page.on('request', (request) => void paths.push(new URL(request.url()).pathname));
      await page.evaluate(`location.hash = '#/schedules/new?copy=..%2Foffers%3Fx%3D'`);
      await page.getByRole('alert').waitFor(LOADED);
      expect(paths.filter((path) => /offers/.test(path))).toEqual([
        '/api/v1/schedules/..%2Foffers%3Fx%3D',
      ]);
    },
    [404, 422],
  ),
);

inBrowser('a step that is being written asks before Escape throws it away', () =>
  asDemo(async (page) => {
    const [schedule] = (await get('schedules')).schedules;
    const questions: string[] = [];
    let isLeft = false;
    page.removeAllListeners('dialog');
    page.on('dialog', (question) => {
      questions.push(question.message());
      void (isLeft ? question.accept() : question.dismiss());
    });
    await goTo(page, `#/schedules/${schedule.id}`);
    const dialog = page.getByRole('dialog', { name: 'New step' });
    const open = () =>
      timeline(page).getByRole('button', { name: 'Add a step', exact: true }).click();
    const expectClosed = () => dialog.waitFor({ ...LOADED, state: 'detached' });
    await open();
    await page.keyboard.press('Escape');
    await expectClosed();
    expect(questions).toEqual([]);
    await open();
    const text = dialog.getByLabel('Text', { exact: true });
    await text.fill('Hi there');
    // At the second Escape in a row, the browser closes the dialog, and the page opens it again.
    for (const count of [1, 2, 3]) {
      await page.keyboard.press('Escape');
      await until(page, `document.querySelector('dialog:modal')`);
      expect([questions.length, await text.inputValue()]).toEqual([count, 'Hi there']);
    }
    isLeft = true;
    await page.keyboard.press('Escape');
    await expectClosed();
    expect(new Set(questions)).toEqual(new Set(['Leave without saving your changes?']));
    await open();
    expect(await text.inputValue()).toBe('');
  }),
);
