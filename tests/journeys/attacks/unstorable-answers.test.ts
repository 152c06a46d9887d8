import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { carrierRequests } from '../../support/carrier-requests';
import { finished, buildSuppressionRequests } from '../../support/imports';
import { EMAIL, loadLeadRow, openShop, loadSent, SMS } from '../../support/leads';
import { outreachServers } from '../../support/outreach-servers';

// Text of carriers, mail servers and files is stored too: text that PostgreSQL cannot store, or an
// emoji across the index of a cut, must not undo the record that it came with.

const BAD = '\ufffd';

describe('a carrier', () => {
  const env = outreachServers();
  const { run, worker, smtp, submitted } = env;

  test('that refuses a text with nonsense: the text has failed, and says why', async () => {
    const lead = await submitted([SMS]);
    const message = `bad \0 \ud800 ${'😀'.repeat(600)}`;
    env.server.trouble([{ status: 400, text: JSON.stringify({ code: 21211, message }) }]);
    await run(worker());
    const [textMessage] = await loadSent(env.world, 'text_messages', lead);
    const prefix = `The carrier answered 400 (21211): bad ${BAD} ${BAD} `;
    expect(textMessage).toMatchObject({
      status: 'failed',
      error_message: prefix + '😀'.repeat(500 - prefix.length),
    });
  });

  test.each(['', 'x'])('a mail server that refuses with %j and emoji', async (odd) => {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      onRcptTo: (_, _session, done) =>
        done(Object.assign(new Error(odd + '😀'.repeat(300)), { responseCode: 550 })),
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
    const { port } = server.server.address() as AddressInfo;
    const mailer = smtp(`smtp://127.0.0.1:${port}`);
    try {
      const lead = await submitted([EMAIL]);
      await run(worker({ mailer }));
      const [email] = await loadSent(env.world, 'emails', lead);
      expect(email).toMatchObject({ status: 'failed', error_code: 'rejected' });
      expect(email!.error_message).not.toContain(BAD);
      expect(await loadLeadRow(env.world, lead)).toMatchObject({ claim_id: null });
    } finally {
      mailer.close();
      await new Promise<void>((done) => server.close(() => done()));
    }
  });
});

describe('a report of a carrier', () => {
  const { hook, text, listMessages, optedOut } = carrierRequests();

  test.each([
    ['STOP\0', `STOP${BAD}`],
    ['\0STOP', `${BAD}STOP`],
  ])('the text %j is stored, and opts its sender out', async (body, storedBody) => {
    const message = text(body);
    expect((await hook('telephony/sms', message)).status).toBe(200);
    const [received] = await listMessages(message.From!);
    expect(received).toMatchObject({ direction: 'inbound', body: storedBody });
    expect(await optedOut(message.From!)).toBe(true);
  });
});

describe('in requests and files, what is cut or replaced is stored', () => {
  const env = carrierRequests();
  const { api, create, upload } = buildSuppressionRequests(() => env.world);
  const across = (limit: number) => `${'x'.repeat(limit - 1)}😀`;

  test('the warnings of a lead with an emoji across the cut of a name', async () => {
    const { schedule } = await openShop(env.world, []);
    const body = {
      lead_token: schedule.lead_token,
      caller_id: '3105550199',
      [`${across(100)}${'y'.repeat(50)}`]: 1,
      sub_id: {},
    };
    const { status, body: answer } = await api('post', 'leads', { auth: null, body });
    expect([status, Object.keys(answer.warnings).toSorted()]).toEqual([
      201,
      ['sub_id', across(100)],
    ]);
  });

  test('a name that is made of another follows it, with an emoji across its end', async () => {
    const names = { first_name: 'x'.repeat(200), last_name: `${across(54)}y` };
    const { body } = await api('post', 'traffic_sources', { body: names });
    const { id, name } = body.traffic_source;
    expect(name).toBe(`${names.first_name} ${across(54)}`);
    await api('put', `traffic_sources/${id}`, { body: { first_name: 'Ann', last_name: 'Lee' } });
    expect((await api('get', `traffic_sources/${id}`)).body.traffic_source.name).toBe('Ann Lee');
  });

  test('headers of a suppression file, with an emoji across the cut', async () => {
    await env.world.work();
    const { id } = await create();
    const list = { buyer_suppression_id: String(id) };
    const file = `${across(255)}z,phone\n1,3105550188\n`;
    const { body } = await upload('buyer_suppression_files', file, list);
    const path = `buyer_suppression_files/${body.buyer_suppression_file.id}`;
    expect(await finished(api, path)).toMatchObject({
      status: 'succeeded',
      headers: [across(255), 'phone'],
    });
  });

  test('U+0000 far behind in a file of values', async () => {
    const values = `value\n${'abcdefg\n'.repeat(9_000)}z\0z\n`;
    const form = { name: 'Far', import_file: Buffer.from(values) };
    const { status, body } = await api('post', 'value_lists', { form });
    expect([status, body.errors]).toEqual([201, {}]);
  });
});
