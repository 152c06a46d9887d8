import { createServer, type Server as TcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connectionFault } from '../../src/data/postgres/connection-fault';
import { parseHostList } from '../../src/data/postgres/host-list';
import { matchesTarget, findHosts } from '../../src/data/postgres/hosts';
import { HostsClient } from '../../src/data/postgres/hosts-client';

// Several hosts in a database URL, as libpq reads them.

const hosts = (url: string) => parseHostList(url).hosts.map(({ host, port }) => `${host} ${port}`);

test.each([
  ['postgresql://u:p@one/db', ['one 5432']],
  ['postgresql://u:p@one:6000,two:6001/db', ['one 6000', 'two 6001']],
  ['postgres://one,two:6001,[::1]:7000/db', ['one 5432', 'two 6001', '::1 7000']],
  ['postgresql:///db?host=one,two&port=6000', ['one 6000', 'two 6000']],
  ['postgresql:///db?host=one,two&port=6000,6001', ['one 6000', 'two 6001']],
  ['postgresql://u@%2Fvar%2Frun/db', ['/var/run 5432']],
  ['postgresql:///db?host=/var/run', ['/var/run 5432']],
  ['postgresql:///db', ['localhost 5432']],
])('the hosts of %s', (url, expected) => expect(hosts(url)).toEqual(expected));

test('what the driver does not know is read, and taken out of its URL', () => {
  const url =
    'postgresql://u:p%40@one:1,two:2/db?target_session_attrs=read-write&connect_timeout=3&ssl=0';
  expect(parseHostList(url)).toMatchObject({
    target: 'read-write',
    connect_timeout_ms: 3000,
    user: 'u',
    database: 'db',
    connectionString: 'postgresql://u:p%40@one:1/db?ssl=0',
  });
});

test.each([
  ['postgresql://one:0/db', /ports from 1 to 65535, not "0"/],
  ['postgresql://one:1,two:70000/db', /ports from 1 to 65535, not "70000"/],
  ['postgresql:///db?host=one,two,three&port=1,2', /one port for each host, not 2 for 3/],
  ['postgresql://one/db?target_session_attrs=writable', /any, read-write, .* not "writable"/],
  ['postgresql://one/db?connect_timeout=soon', /connect_timeout of whole seconds.* not "soon"/],
  ['mysql://one/db', /must be a URL such as postgresql:/],
  ['postgresql://', /must be a URL such as postgresql:/],
])('%s is refused with what is allowed', (url, message) =>
  expect(() => parseHostList(url)).toThrow(message),
);

test('which server is what target_session_attrs asks for', () => {
  const roles = [
    { is_standby: false, is_read_only: false },
    { is_standby: false, is_read_only: true },
    { is_standby: true, is_read_only: false },
  ];
  const accepted = (target: Parameters<typeof matchesTarget>[0]) =>
    roles.map((role) => (matchesTarget(target, role) ? 1 : 0)).join('');
  expect({
    any: accepted('any'),
    'read-write': accepted('read-write'),
    'read-only': accepted('read-only'),
    primary: accepted('primary'),
    standby: accepted('standby'),
  }).toEqual({
    any: '111',
    'read-write': '100',
    'read-only': '011',
    primary: '110',
    standby: '001',
  });
});

describe('a server, and hosts that do not serve', () => {
  const server = new URL(process.env.TRUNKLINE_TEST_DATABASE!);
  const url = (hostList: string, query = '') =>
    `postgresql://${server.username}:${server.password}@${hostList}/postgres${query}`;
  let silent: TcpServer;
  let silentHost: string;
  beforeAll(async () => {
    silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    silentHost = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  });
  afterAll(() => void silent.close());

  const connected = async (connectionString: string) => {
    const client = new HostsClient({ connectionString });
    await client.connect();
    const { rows } = await client.query('SELECT 1 AS answer');
    await client.end();
    return { rows, host: `${client.host}:${client.port}` };
  };
  const fault = async (connectionString: string) => {
    const error = await connected(connectionString).then(
      () => undefined,
      (value: unknown) => value,
    );
    return (connectionFault(connectionString, error) as Error).message;
  };

  test('the connection goes to the host that answers, wherever it is in the list', async () => {
    const expected = { rows: [{ answer: 1 }], host: server.host };
    for (const hostList of [`127.0.0.1:1,${server.host}`, `${server.host},127.0.0.1:1`])
      for (const query of ['', '?target_session_attrs=read-write'])
        expect(await connected(url(hostList, query))).toEqual(expected);
  });

  test('a host that does not answer is waited for only as long as one that does is missing', async () => {
    const connection = await connected(
      url(`${silentHost},${server.host}`, '?target_session_attrs=primary&connect_timeout=3000'),
    );
    expect(connection.host).toBe(server.host);
    expect(await fault(url(silentHost, '?connect_timeout=1'))).toContain(
      `DATABASE_URL: ${silentHost} does not answer`,
    );
  });

  test('the fault names every host', async () => {
    const message = await fault(url(`127.0.0.1:1,${server.host}`, '?target_session_attrs=standby'));
    expect(message).toMatch(
      /^DATABASE_URL: none of 127\.0\.0\.1:1, \S+ serves with target_session_attrs=standby/,
    );
    expect(message).toContain('127.0.0.1:1: connect ECONNREFUSED');
    expect(message).toContain(`${server.host}: is not in that state`);
    expect(await fault(url(server.host, '?target_session_attrs=standby'))).toMatch(
      /^DATABASE_URL: .*not standby/,
    );
  });

  test('a suspect host is asked again, with the others', async () => {
    const hosts = findHosts(url(`${server.host},127.0.0.1:1`, '?application_name=suspect'));
    const good = await hosts.find();
    hosts.suspect(good);
    expect(await hosts.find()).toEqual(good);
  });
});
