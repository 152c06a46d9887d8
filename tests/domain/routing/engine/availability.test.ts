import { buildAvailability } from '../../../../src/domain/routing/engine/availability';
import type { Candidate } from '../../../../src/domain/routing/engine/candidate';
import { buyer, cap, MONDAY, tokens } from '../../../support/candidates';

const NOW = new Date(MONDAY);
const findAvailability = (...candidates: Candidate[]) =>
  buildAvailability(candidates, { now: NOW, seed: 's', tokens });
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const at = (seconds: number) => after(seconds).toISOString();

/** Open on Mondays from 09:00, half an hour from now. */
const LATER = { business_hours: [[1440 + 540, 1440 + 1019]] } as Partial<Candidate>;

describe('whether a buyer would take a call', () => {
  test('one that could is enough', () => {
    expect(findAvailability(buyer({ id: 1, paused: true }), buyer({ id: 2 }))).toMatchObject({
      available: true,
      message: null,
    });
  });

  test('none does: how many buyers each reason keeps from the call', () => {
    expect(
      findAvailability(
        buyer({ id: 1, paused: true }),
        buyer({ id: 2, paused: true }),
        buyer({ id: 3, number: null }),
      ),
    ).toMatchObject({
      available: false,
      message: 'no buyer of the offer would take the call: paused (2), no_number (1)',
    });
    expect(findAvailability()).toMatchObject({
      available: false,
      message: 'the offer has no buyers',
    });
  });

  test('what keeps the call from all buyers is the reason', () => {
    const refused = { reason: 'offer_paused', message: 'the offer is paused' } as const;
    const facts = { now: NOW, seed: 's', tokens, refused };
    expect(buildAvailability([buyer()], facts)).toMatchObject({
      available: false,
      message: 'the offer is paused',
    });
  });

  test.each([
    ['a cap is reset', [buyer(cap('attempt_daily', 1, 1, at(240)))], 240],
    [
      'the first of two caps is reset',
      [
        buyer({ id: 1, ...cap('attempt_daily', 1, 1, at(500)) }),
        buyer({ id: 2, ...cap('attempt_daily', 1, 1, at(300)) }),
      ],
      300,
    ],
    ['hours open later than that: after ten minutes', [buyer(LATER)], 600],
    ['nothing ends by itself: after ten minutes', [buyer({ paused: true })], 600],
    ['a buyer is busy: after half a minute', [buyer(cap('concurrency', 1, 1))], 30],
    [
      'a cap is reset at once: not before a quarter of a minute',
      [buyer(cap('attempt_daily', 1, 1, at(1)))],
      15,
    ],
  ])('is asked again when %s', (_, candidates, seconds) => {
    expect(findAvailability(...candidates).look_again_at).toEqual(after(seconds));
  });
});
