import { HttpProblem } from '../../../src/platform/errors';
import { readEventId, writeEventId, type EventId } from '../../../src/domain/events/position';

// An event's id says when it was sent, and a stream goes on after it for a day. A reader that could
// write a later time into it would read everything that was ever recorded.

const PEPPER = 'a pepper for tests, long enough to be one';
const position = { server: '0a1b2c3d', horizon: 900n, calls_after: 70n, leads_after: 8n };
const ids: EventId[] = [
  { position, part: undefined, minute: 29_000_000 },
  { position, part: { to: 950n, kind: 3, id: 12_345n }, minute: 29_000_000 },
];
const read = (text: string, pepper = PEPPER) => readEventId(text, 'last_event_id', pepper);

test.each(ids)('an id is read as it was written', (id) => {
  expect(read(writeEventId(id, PEPPER))).toEqual(id);
});

test.each(ids)('no part of an id can be changed', (id) => {
  const parts = writeEventId(id, PEPPER).split('.');
  for (const [n, part] of parts.entries()) {
    const otherPart = part.replace(/.$/, (last) => (last === '1' ? '2' : '1'));
    const changed = parts.with(n, otherPart).join('.');
    expect(() => read(changed)).toThrow(HttpProblem);
  }
});

test('what is no id is refused', () => {
  const id = writeEventId(ids[0]!, PEPPER);
  for (const wrong of ['', '7', `${id}.1`, "0'; --", id.toUpperCase().replace('.', '/')])
    expect(() => read(wrong)).toThrow(HttpProblem);
});

test('an id of another installation is refused', () => {
  expect(() => read(writeEventId(ids[0]!, PEPPER), `${PEPPER}!`)).toThrow(HttpProblem);
});

test.each(ids)('an id without a signature is as old as can be, whatever it says', (id) => {
  const unsigned = writeEventId(id, PEPPER).split('.').slice(0, -1).join('.');
  expect(read(unsigned)).toEqual({ ...id, minute: 0 });
});

test('an id fits into the header that brings it back', () => {
  const most = 36n ** 12n - 1n;
  const longest: EventId = {
    position: { server: 'ffffffff', horizon: most, calls_after: most, leads_after: most },
    part: { to: most, kind: 4, id: most },
    minute: 36 ** 6,
  };
  expect(writeEventId(longest, PEPPER).length).toBeLessThanOrEqual(200);
});
