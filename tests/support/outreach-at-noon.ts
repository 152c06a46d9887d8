import { NOON, buildScheduleHelpers } from './leads';
import { useWorld, type UsedWorld } from './use-world';

/** Each test of the file gets a company of its own and starts at noon. */
export function outreachAtNoon() {
  const world = useWorld({ clock: NOON, fresh: 'company' });
  return {
    time: world.clock,
    ...buildScheduleHelpers(world),
    world,
    /** The world with the company of the test. */
    here: world as UsedWorld,
  };
}
