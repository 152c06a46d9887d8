import { standingClock } from './clock';
import { NOON, buildScheduleHelpers } from './leads';
import { createWorld, type World } from './world';

/** Each test of the file gets a company of its own and starts at noon. */
export function outreachAtNoon() {
  let world: World;
  let here: World;
  const time = standingClock(NOON);
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
  });
  beforeEach(async () => {
    time.set(NOON);
    here = { ...world, company: await world.addCompany() };
  });
  afterAll(() => world.close());
  return {
    time,
    ...buildScheduleHelpers(() => here, time),
    get world(): World {
      return world;
    },
    /** The world with the company of the test. */
    get here(): World {
      return here;
    },
  };
}
