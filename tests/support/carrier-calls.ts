import type { StandingClock } from './clock';
import { switchboard } from './switchboard';
import { useWorld, type UsedWorld } from './use-world';

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';
/** A number of Los Angeles, by its area code. */
export const CALLER = '+13105550188';

export let world: UsedWorld;
export let on: ReturnType<typeof switchboard>;
export let time: StandingClock;

/** Opens the world of tests of calls through a carrier; each has a company and switchboard. */
export function setUp(environment: Record<string, string> = {}): void {
  const settings = { PUBLIC_URL: 'https://calls.example.com', TRUST_PROXY: '1', ...environment };
  world = useWorld({ clock: MONDAY, fresh: 'company', environment: settings });
  time = world.clock;
  beforeEach(() => void (on = switchboard(world, time)));
}
