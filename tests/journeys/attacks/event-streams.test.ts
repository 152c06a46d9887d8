import { createServer } from 'node:http';
import { limitConnections } from '../../../src/api/connections';
import { eventually } from '../../support/engine-process';
import { openStream, type Reader } from '../../support/event-stream';
import { listen } from '../../support/loopback';
import { createMember, type Member } from '../../support/teams';
import { basic, type Company } from '../../support/world';
import { useWorld } from '../../support/use-world';

// Event streams hold connections for hours. A user, and a company, have only some of them.

const MAX_OF_AGENT = 5;
const CONNECTIONS = 40;
const MAX_OF_COMPANY = CONNECTIONS / 4;

const world = useWorld({ environment: { MAX_CONNECTIONS: String(CONNECTIONS) } });
let url: string;
beforeAll(async () => {
  const server = createServer(world.app as never);
  limitConnections(server, { max: CONNECTIONS });
  const listening = await listen(server);
  ({ url } = listening);
  world.closeLater(listening.close);
});

let userCount = 0;
/** A limited user who is an agent. */
async function streamer(company: Company): Promise<Member> {
  const user = await createMember(company, `streams-${++userCount}@example.com`, {
    permissions: ['agent_messages:read'],
  });
  const { status } = await company.api('post', 'agents', { body: { user_email: user.email } });
  expect(status).toBe(201);
  return user;
}

const open: Reader[] = [];
const openReader = async ({ token }: Member, query?: string) => {
  const reader = await openStream(url, token, query === undefined ? {} : { query });
  open.push(reader);
  return reader;
};
const openReaders = (user: Member, count: number) =>
  Promise.all(Array.from({ length: count }, () => openReader(user)));
const isRefused = ({ status, problem }: Reader) =>
  status === 429 && (problem as { code?: string } | undefined)?.code === 'too_many_at_once';
const selectOpened = (readers: readonly Reader[]) => readers.filter(({ status }) => status === 200);
/** Retries until the server knows that the readers have left. */
const reopenReader = async (user: Member) => {
  await eventually(async () => (await openReader(user)).status === 200);
};
afterEach(async () => {
  const readers = open.splice(0);
  readers.forEach((reader) => reader.leave());
  await Promise.all(readers.map(({ ended }) => ended));
});

test('those of one user leave connections for others', async () => {
  const readers = await openReaders(await streamer(world.company), CONNECTIONS - 1);
  expect([selectOpened(readers).length, readers.filter(isRefused).length]).toEqual([
    MAX_OF_AGENT,
    CONNECTIONS - 1 - MAX_OF_AGENT,
  ]);
  const otherCompany = await world.addCompany('Other');
  const answer = await fetch(`${url}/api/v1/me`, {
    headers: { Authorization: basic(otherCompany.auth) },
  });
  expect(answer.status).toBe(200);
});

test('those of a company leave connections for other companies', async () => {
  const crowd = await world.addCompany('Crowd');
  const users = [await streamer(crowd), await streamer(crowd), await streamer(crowd)];
  for (const user of users.slice(0, 2))
    expect(selectOpened(await openReaders(user, 5)).length).toBe(5);
  expect(selectOpened(open).length).toBe(MAX_OF_COMPANY);
  expect(isRefused(await openReader(users[2]!))).toBe(true);
  expect((await openReader(await streamer(world.company))).status).toBe(200);
  open[0]!.leave();
  await reopenReader(users[2]!);
});

test('a place is free again when its reader leaves, and when the stream ends', async () => {
  const user = await streamer(world.company);
  const readers = await openReaders(user, MAX_OF_AGENT);
  expect(isRefused(await openReader(user))).toBe(true);
  readers[0]!.leave();
  await reopenReader(user);
  readers.slice(1).forEach((reader) => reader.leave());
  for (let n = 0; n < 2 * MAX_OF_AGENT; n++) {
    await eventually(async () => {
      const reader = await openReader(user, '?wait_seconds=0');
      await reader.ended;
      return reader.status === 200;
    });
  }
});

test('HEAD takes no place', async () => {
  const user = await streamer(world.company);
  for (let n = 0; n < 2 * MAX_OF_AGENT; n++)
    expect((await user.api('head', 'agent_messages/stream')).status).toBe(200);
  expect(selectOpened(await openReaders(user, MAX_OF_AGENT)).length).toBe(MAX_OF_AGENT);
});
