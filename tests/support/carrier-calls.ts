import { standingClock } from './clock';
import { switchboard } from './switchboard';
import { createWorld, type World } from './world';

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';
/** A number of Los Angeles, by its area code. */
export const CALLER = '+13105550188';

export let world: World;
export let on: ReturnType<typeof switchboard>;
export const time = standingClock(MONDAY);

/** Opens the world of tests of calls through a carrier; each has a company and switchboard. */
export function setUp(environment: Record<string, string> = {}): void {
  beforeAll(async () => {
    world = await createWorld({
      clock: time.read,
      environment: {
        PUBLIC_URL: 'https://calls.example.com',
        TRUST_PROXY: '1',
        ...environment,
      },
    });
  });
  beforeEach(async () => {
    time.set(MONDAY);
    world.company = await world.addCompany();
    on = switchboard(world, time);
  });
  afterAll(() => world.close());
}
