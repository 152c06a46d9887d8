import { gzipSync } from 'node:zlib';
import { NotOffered, Refused } from '../../../src/operate/migration/answer';
import { openSource, type Page, type SourceLimits } from '../../../src/operate/migration/reader';
import {
  pageWith,
  pour,
  startOddService,
  type OddPage,
  type OddService,
} from '../../support/odd-service';

// The reader of another service: whatever is answered, it ends, and names the page.

let service: OddService;
beforeEach(async () => {
  service = await startOddService();
});
afterEach(() => service.close());

const LIMITS: Partial<SourceLimits> = { tries: 2, firstPauseMs: 1, bytes: 1_000_000 };
const open = (limits = {}, more = {}) =>
  openSource({
    from: service.url,
    authorization: 'Token secret-token',
    rate: 1_000,
    limits: { ...LIMITS, ...limits },
    ...more,
  });

/** Reads the list of buyers to its end. */
async function readAll(limits = {}, options = {}): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of open(limits).pages('buyers', 'buyers', options)) pages.push(page);
  return pages;
}
const answer = (headers: Record<string, string>, body: string | Buffer = ''): OddPage => {
  return (res) => res.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(body);
};
const buyers = (...pages: OddPage[]) => {
  service.lists.buyers = (_, n) => pages[Math.min(n, pages.length) - 1]!;
};
const address = (position = 'cursor=-1') => `${service.url}/buyers?per_page=100&${position}`;
const record = (id: number) => ({ id });

test.each<[string, OddPage, string]>([
  ['null', { json: null }, 'does not answer with an object'],
  ['a list', { json: [record(1)] }, 'does not answer with an object'],
  ['no list', { json: { status: 200 } }, 'answers without the list buyers'],
  ['an object instead of the list', { json: { buyers: { 0: 1 } } }, 'without the list buyers'],
  ['metadata of text', { json: { buyers: [], metadata: 'none' } }, 'metadata that is not an'],
  ['what is inherited', { json: { metadata: { root: '__proto__' } } }, 'without the list buyers'],
  ['HTML', answer({ 'Content-Type': 'text/html' }, '<p>'), 'answers with text/html, not with JSON'],
  ['half of it', answer({}, '{"buyers":[{'), 'does not answer with JSON'],
  ['Latin-1', answer({}, Buffer.from('{"buyers":["\xe9"]}', 'latin1')), 'that is not UTF-8'],
  ['brotli', answer({ 'Content-Encoding': 'br' }, 'x'), 'is packed with br'],
  ['gzip of gzip', answer({ 'Content-Encoding': 'gzip, gzip' }, 'x'), 'packed with gzip, gzip'],
  ['a negative total', pageWith('buyers', [], { total_count: -1 }), 'the total_count -1'],
  [
    'a total that is no number',
    pageWith('buyers', [], { total_count: 'NaN' }),
    'total_count "NaN"',
  ],
  [
    'a cursor that was rounded',
    pageWith('buyers', [], { next_cursor: 2 ** 60 }),
    'next_cursor 115',
  ],
  ['a cursor that is an object', pageWith('buyers', [], { next_cursor: {} }), 'cursor an object'],
  ['an empty cursor', pageWith('buyers', [], { next_cursor: '' }), 'the next_cursor ""'],
  ['half a character', pageWith('buyers', [], { next_cursor: '\ud800' }), 'next_cursor "\\ud800"'],
  ['a long cursor', pageWith('buyers', [], { next_cursor: 'x'.repeat(2_000) }), 'next_cursor "xxx'],
  [
    'pages without number',
    pageWith('buyers', [record(1)], { next_cursor: null, total_pages: -3 }),
    'the total_pages -3',
  ],
  ['ten thousand and one', pageWith('buyers', Array(10_001).fill(record(1))), 'has 10001 records'],
])('an answer with %s ends it', async (_, page, fault) => {
  buyers(page);
  const error: Error = await readAll().then(
    () => Promise.reject(new Error('it was read')),
    (thrown: Error) => thrown,
  );
  expect(error.message.startsWith(`${address()} `)).toBe(true);
  expect(error.message).toContain(fault);
  expect(error.message).not.toContain('secret');
  expect(error).not.toBeInstanceOf(NotOffered);
  expect(service.requestedPaths).toHaveLength(1);
});

test('a page that is too large is not read on, packed or not', async () => {
  buyers((res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    pour(res, Buffer.alloc(100_000, '['), 4_500);
  });
  await expect(readAll()).rejects.toThrow(`${address()} has more than 1 MB. Ask for fewer records`);
  // Data in buffers of the system, in addition to the megabyte that was read.
  expect(service.bytesWritten()).toBeLessThan(100_000_000);
  const bomb = gzipSync(Buffer.alloc(30_000_000, ' '));
  expect(bomb.length).toBeLessThan(100_000);
  buyers(answer({ 'Content-Encoding': 'gzip' }, bomb));
  await expect(readAll()).rejects.toThrow('has more than 1 MB');
});

test('a packed page is read', async () => {
  const packed = gzipSync(JSON.stringify({ buyers: [record(1)], metadata: { next_cursor: 0 } }));
  buyers(answer({ 'Content-Encoding': 'gzip' }, packed));
  expect((await readAll())[0]!.items).toEqual([record(1)]);
});

test('a page that trickles for ever is given up after its time as a whole', async () => {
  const timers: NodeJS.Timeout[] = [];
  buyers((res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    timers.push(setInterval(() => res.write(' '), 5));
  });
  await expect(readAll({ ms: 100 })).rejects.toThrow(
    `${address()} could not be read in 2 tries (it took longer than 1 s)`,
  );
  timers.forEach(clearInterval);
  expect(service.requestedPaths).toHaveLength(2);
});

test('cursors that lead back end it at the page that has the cursor', async () => {
  service.lists.buyers = (position) => {
    const id = Number(/-?\d+/.exec(position)![0]);
    return pageWith('buyers', [record(id + 10)], { next_cursor: { '-1': 1, 1: 2, 2: 1 }[id] });
  };
  await expect(readAll()).rejects.toThrow(`${address('cursor=2')} is followed by cursor=1, which`);
});

test('pages that come again under other cursors or numbers end it', async () => {
  service.lists.buyers = (_, n) => pageWith('buyers', [record(1)], { next_cursor: n });
  await expect(readAll()).rejects.toThrow(`${address('cursor=1')} has the records of an earlier`);
  service.lists.buyers = () => pageWith('buyers', [record(1)], { next_cursor: null });
  await expect(readAll()).rejects.toThrow(`${address('page=2')} has the records of an earlier`);
});

test('a list of ever new records, or of ever more empty pages, is ended', async () => {
  const fill = (n: number) => Array.from({ length: 5_000 }, (_, i) => record(n * 5_000 + i));
  service.lists.buyers = (_, n) => pageWith('buyers', fill(n), { next_cursor: n, total_count: 3 });
  await expect(readAll()).rejects.toThrow('is in a list of 3 records, as it says, of which 15000');
  service.requestedPaths.length = 0;
  service.lists.buyers = (_, n) => pageWith('buyers', fill(n), { next_cursor: n });
  await expect(readAll({}, { maxItems: 9_000 })).rejects.toThrow('not ended after 9000 records');
  service.requestedPaths.length = 0;
  service.lists.buyers = (_, n) => pageWith('buyers', [], { next_cursor: n });
  await expect(readAll({ emptyPages: 5 })).rejects.toThrow('is page 6 in a row without records');
});

test('a list that ends before its total says how much it lacks', async () => {
  buyers(pageWith('buyers', [record(1)], { total_count: 5_000 }));
  expect((await readAll()).map(({ short }) => short)).toEqual(['1 of 5000']);
  // Read from the middle, or while records were added or deleted.
  expect((await readAll({}, { from: 'cursor=7' }))[0]!.short).toBeUndefined();
  service.requestedPaths.length = 0;
  buyers(
    pageWith('buyers', [record(1)], { total_count: 2, next_cursor: 1 }),
    pageWith('buyers', [record(2)], { total_count: 3 }),
  );
  expect((await readAll()).map(({ short }) => short)).toEqual([undefined, undefined]);
});

test('a redirect is not followed, and the credentials go nowhere else', async () => {
  const elsewhere = await startOddService();
  buyers((res) => res.writeHead(302, { Location: `${elsewhere.url}/buyers` }).end());
  await expect(readAll()).rejects.toThrow(`${address()} answers 302, which leads to another`);
  expect(elsewhere.requestedPaths).toEqual([]);
  elsewhere.close();
});

test.each([
  ['seconds', '31536000'],
  ['more seconds than numbers have', '9'.repeat(400)],
  ['a date', new Date(Date.now() + 3e10).toUTCString()],
])('it does not wait for a year that Retry-After gives in %s', async (_, header) => {
  buyers((res) => res.writeHead(429, { 'Retry-After': header }).end());
  await expect(readAll()).rejects.toThrow(
    `${address()} answers 429 and asks to be left alone for longer than 5 minutes`,
  );
  expect(service.requestedPaths).toHaveLength(1);
});

test('a page in the middle that is not there is no end of the list', async () => {
  buyers(pageWith('buyers', [record(1)], { next_cursor: 1 }), (res) => res.writeHead(404).end());
  await expect(readAll()).rejects.toThrow(`${address('cursor=1')} answers 404, although the list`);
  // Where an earlier run has ended: the list is asked for in another way.
  await expect(readAll({}, { from: 'cursor=9' })).rejects.toThrow(Refused);
  service.hasOthers = false;
  service.lists = {};
  await expect(readAll()).rejects.toThrow(NotOffered);
});

test('numbers of pages are kept with the size of those pages', async () => {
  const read = async (perPage: number, from?: string) => {
    const next: (string | undefined)[] = [];
    service.requestedPaths.length = 0;
    for await (const page of open({}, { perPage }).pages('buyers', 'buyers', { from }))
      next.push(page.next);
    return { next, requests: service.requestedPaths.map((path) => /[^&]*$/.exec(path)![0]) };
  };
  service.lists.buyers = (position) => {
    const n = Number(/^page=(\d+)/.exec(position)?.[1] ?? 1);
    return pageWith('buyers', [record(n)], { next_cursor: null, total_pages: 2 });
  };
  expect((await read(100)).next).toEqual(['page=2', undefined]);
  expect((await read(10)).next).toEqual(['page=2&per_page=10', undefined]);
  expect((await read(10, 'page=2&per_page=10')).requests).toEqual(['page=2']);
  expect((await read(10, 'page=2')).requests).toEqual(['cursor=-1', 'page=2']);
});

test.each([
  'https://pub:secret@host/api/v1',
  'https://host/api/v1?auth_token=secret',
  'file:///etc/secret',
  'secret',
])('%s is no address of an API, and is not repeated', (from) => {
  expect(() => open({}, { from })).toThrow(/^--from must (?!.*secret)/);
});
