import { readdirSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { deleteOrphanedUploads } from '../../../src/main/background/delete-expired';
import { erasePerson } from '../../../src/operate/privacy/erase-person';
import { listStoredFiles } from '../../../src/operate/installation/stored-files';
import { openDirectory } from '../../../src/platform/storage/directory';
import { eventually } from '../../support/engine-process';
import { softswitch } from '../../support/softswitch';
import { basic, buildApp, caller } from '../../support/world';

const here = softswitch('2026-06-01T12:30:00Z', { MAX_UPLOAD_BYTES: '100000' });
const { world, ok, buyer, offer, begin, report, loadEvents, later } = here;

const WAV = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), Buffer.alloc(800, 1)]);
const MP3 = Buffer.concat([Buffer.from('fffb9000', 'hex'), Buffer.alloc(800, 2)]);
const OGG = Buffer.concat([Buffer.from('OggS\0'), Buffer.alloc(800, 3)]);

const startCall = async () =>
  begin(await offer({ buyer_ids: [await buyer()] }), { call_sid: 'a/b@switch' });
const put = (path: string, body: unknown, type?: string, more = {}) =>
  world.api('put', `call_sessions/${path}/recording`, {
    body,
    headers: type === undefined ? {} : { 'Content-Type': type },
    ...more,
  });
const store = async (call: { id: number }, audio: Buffer, type = 'audio/wav') => {
  const res = await put(String(call.id), audio, type);
  expect([res.status, res.text]).toEqual([200, expect.any(String)]);
  return res.body.call as { id: number; recording_url: string };
};
const folder = (name: string) => join(world.deps.config.storage_dir, name);
const listFiles = () => readdirSync(folder('files'));
const listRecordings = async ({ id }: { id: number }) =>
  (await loadEvents({ id })).filter((event) => event === 'recording');
const download = (url: string, api = world.company.api) => api('get', new URL(url).pathname);

describe('a recording', () => {
  test.each([
    ['WAV', WAV, 'audio/wav', 'wav'],
    ['MP3 under another type', MP3, 'application/octet-stream', 'mp3'],
    ['Ogg under an old type', OGG, 'application/ogg', 'ogg'],
    [
      'WAV with RF64',
      Buffer.from(WAV.toString('latin1').replace('RIFF', 'RF64'), 'latin1'),
      'audio/x-wav',
      'wav',
    ],
  ])(
    'that is %s comes back as it was sent, at the URL of the call',
    async (_, audio, type, end) => {
      const call = await startCall();
      const { recording_url: url } = await store(call, audio, type);
      expect(url).toBe(`${world.deps.config.public_url}/api/v1/calls/${call.id}/recording`);
      expect((await ok('get', `calls/${call.id}`)).call.recording_url).toBe(url);
      const res = await download(url);
      expect([res.status, Buffer.compare(res.body, audio)]).toEqual([200, 0]);
      expect(res.headers['content-type']).toBe(
        { wav: 'audio/wav', mp3: 'audio/mpeg', ogg: 'audio/ogg' }[end],
      );
      expect(res.headers['content-disposition']).toBe(
        `attachment; filename=call-${call.id}.${end}`,
      );
      expect((await world.api('get', 'calls?has_recording=true')).body.calls).toHaveLength(1);
    },
  );

  test('may be the file of a form, and its call may be named by its call_sid', async () => {
    const call = await startCall();
    const path = `sid:${encodeURIComponent('a/b@switch')}`;
    const res = await put(path, undefined, undefined, { form: { recording: OGG } });
    expect([res.status, res.body.call.id]).toEqual([200, call.id]);
    expect((await download(res.body.call.recording_url)).body.length).toBe(OGG.length);
  });

  test('that comes after the end of the call is taken, and webhooks get it', async () => {
    const call = await startCall();
    await report(call, 'answered');
    await report(call, 'completed', { duration: 20 });
    await ok('post', 'outgoing_webhooks', {
      name: 'changes',
      url: 'https://crm.example.com/calls',
      trigger_type: 'call_changed',
    });
    later(3_600);
    const { recording_url: url } = await store(call, WAV);
    const events = await world.sql<{ snapshot: { call: object } }>(
      `SELECT snapshot FROM webhook_events WHERE company_id = $1 AND kind = 'call_changed'`,
      [world.company.id],
    );
    expect(events.map(({ snapshot }) => snapshot)).toEqual([
      expect.objectContaining({ call: expect.objectContaining({ recording_url: url }) }),
    ]);
  });

  test('that is sent again is one event; another takes its place, and its file goes', async () => {
    const call = await startCall();
    const before = listFiles().length;
    await store(call, WAV);
    await store(call, WAV);
    expect(await listRecordings(call)).toHaveLength(1);
    // The repeated one is deleted after the answer.
    await eventually(() => listFiles().length <= before + 1);
    expect(listFiles()).toHaveLength(before + 1);
    const { recording_url: url } = await store(call, MP3, 'audio/mpeg');
    expect(await listRecordings(call)).toHaveLength(2);
    expect(Buffer.compare((await download(url)).body, MP3)).toBe(0);
    await deleteOrphanedUploads(world.deps, -1);
    expect(listFiles()).toHaveLength(before + 1);
    expect(Buffer.compare((await download(url)).body, MP3)).toBe(0);
  });

  test('is one of those that arrive at once, whole, and one event for each that differs', async () => {
    const call = await startCall();
    const audios = [WAV, MP3, WAV, OGG, MP3];
    await Promise.all(audios.map((audio) => store(call, audio)));
    const { recording_url: url } = (await ok('get', `calls/${call.id}`)).call;
    const { body } = await download(url);
    expect(audios.some((audio) => Buffer.compare(audio, body) === 0)).toBe(true);
    const count = (await listRecordings(call)).length;
    expect([count >= 3, count <= 5]).toEqual([true, true]);
    expect(
      await listStoredFiles(world.deps.database.sql, { company_id: world.company.id }),
    ).toHaveLength(1);
  });

  test('is reported elsewhere too: the latest URL is that of the call', async () => {
    const call = await startCall();
    const { recording_url: here } = await store(call, WAV);
    const url = 'https://switch.example.com/7.mp3';
    await report(call, 'recording', { recording_url: url });
    expect((await ok('get', `calls/${call.id}`)).call.recording_url).toBe(url);
    expect((await store(call, WAV)).recording_url).toBe(here);
    expect(await listRecordings(call)).toHaveLength(3);
  });

  test('is erased with the person', async () => {
    const call = await startCall();
    const { recording_url: url } = await store(call, WAV);
    await report(call, 'completed');
    const receipt = await erasePerson(world.deps.tenants, world.company.id, {
      number: '13105550188',
      now: here.time.read(),
    });
    expect(receipt.erased).toMatchObject({ call_recordings: 1 });
    expect((await download(url)).status).toBe(404);
    await deleteOrphanedUploads(world.deps, -1);
    expect(
      await listStoredFiles(world.deps.database.sql, { company_id: world.company.id }),
    ).toEqual([]);
  });
});

describe('a recording is refused', () => {
  const message = (res: Awaited<ReturnType<typeof put>>) => [
    res.status,
    res.body.errors?.recording ?? res.body.code,
  ];

  test('if it is no audio by its first bytes, with what is allowed', async () => {
    const { id } = await startCall();
    const text = Buffer.from('<html>not found</html>');
    const isNone = ['is no audio; it must be WAV, MP3 or Ogg'];
    expect(message(await put(String(id), text, 'audio/wav'))).toEqual([422, isNone]);
    expect(
      message(await put(String(id), undefined, undefined, { form: { recording: text } })),
    ).toEqual([422, isNone]);
    // AAC, whose frames begin nearly as those of MP3.
    const aac = Buffer.from('fff15080', 'hex');
    expect(message(await put(String(id), aac, 'audio/aac'))).toEqual([422, isNone]);
    expect(message(await put(String(id), Buffer.alloc(0), 'audio/wav'))).toEqual([
      422,
      ['is empty; it must be WAV, MP3 or Ogg'],
    ]);
    expect(message(await put(String(id), undefined, undefined, { form: { other: 'x' } }))[0]).toBe(
      422,
    );
  });

  test('if it is larger than files may be, whether or not it says so', async () => {
    const { id } = await startCall();
    const large = Buffer.concat([WAV, Buffer.alloc(100_000)]);
    const res = await put(String(id), large, 'audio/wav');
    expect([res.status, res.body.detail]).toEqual([413, 'The file is larger than 100000 bytes.']);
    const server = buildApp(world.deps).listen(0);
    const { status } = await sendChunks(server, id, [
      WAV,
      Buffer.alloc(60_000),
      Buffer.alloc(60_000),
    ]);
    expect(status).toBe(413);
    server.close();
    await eventually(() => readdirSync(folder('incoming')).length === 0);
  });

  test('if the disk is full, and nothing is left', async () => {
    const { id } = await startCall();
    const { storage_dir } = world.deps.config;
    const full = openDirectory({ folder: storage_dir, reserve_bytes: 1e18 });
    const app = buildApp({ ...world.deps, storage: full });
    const api = caller(app, world.company.auth);
    const headers = { 'Content-Type': 'audio/wav' };
    const res = await api('put', `call_sessions/${id}/recording`, { body: WAV, headers });
    expect(res.status).toBe(507);
    expect(readdirSync(folder('incoming'))).toEqual([]);
  });

  test('as JSON, as the fields of a form, and if the connection ends before it', async () => {
    const { id } = await startCall();
    expect((await put(String(id), { recording: 'x' })).status).toBe(415);
    expect((await put(String(id), 'a=1', 'application/x-www-form-urlencoded')).status).toBe(415);
    const server = buildApp(world.deps).listen(0);
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write(buildHead(id, 'Content-Length: 5000'));
    socket.write(WAV);
    await eventually(() => readdirSync(folder('incoming')).length === 1);
    socket.destroy();
    await eventually(() => readdirSync(folder('incoming')).length === 0);
    expect((await ok('get', `calls/${id}`)).call.recording_url).toBeNull();
    server.close();
  });

  test('for a call that others have, or none', async () => {
    const call = await startCall();
    const { recording_url: url } = await store(call, WAV);
    const other = await world.addCompany();
    const headers = { 'Content-Type': 'audio/wav' };
    const path = `call_sessions/${call.id}/recording`;
    const before = listFiles().length;
    expect((await other.api('put', path, { body: MP3, headers })).status).toBe(404);
    expect((await download(url, other.api)).status).toBe(404);
    expect((await put('sid:none', WAV, 'audio/wav')).status).toBe(404);
    expect((await world.api('get', `calls/${(await startCall()).id}/recording`)).status).toBe(200);
    expect(listFiles()).toHaveLength(before);
    const auth = await world.credentials(world.company, ['calls:read']);
    expect((await put(String(call.id), WAV, 'audio/wav', { auth })).status).toBe(403);
    expect((await put(String(call.id), WAV, 'audio/wav', { auth: null })).status).toBe(401);
  });
});

const buildHead = (id: number, length: string) =>
  `PUT /api/v1/call_sessions/${id}/recording HTTP/1.1\r\nHost: x\r\n` +
  `Authorization: ${basic(world.company.auth)}\r\nContent-Type: audio/wav\r\n${length}\r\n\r\n`;

/** Sends a body that does not say how long it is. */
function sendChunks(server: Server, id: number, chunks: Buffer[]): Promise<{ status: number }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(buildHead(id, 'Transfer-Encoding: chunked'));
  for (const chunk of chunks) {
    socket.write(`${chunk.length.toString(16)}\r\n`);
    socket.write(chunk);
    socket.write('\r\n');
  }
  socket.write('0\r\n\r\n');
  return new Promise((done, fail) => {
    socket.once('data', (data) => {
      socket.destroy();
      done({ status: Number(/^HTTP\/1.1 (\d+)/.exec(data.toString())?.[1]) });
    });
    socket.once('error', fail);
  });
}
