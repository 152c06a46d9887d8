import { standingClock } from './clock';
import { startTwilio, type TwilioServer } from './twilio-server';
import { createWorld, type World } from './world';

const NOON = '2026-06-01T16:00:00Z';

export let world: World;
export let server: TwilioServer;
export const time = standingClock(NOON);

/** Opens a world and a server that stands for Twilio; each test has a company of its own. */
export function setUp(): void {
  beforeAll(async () => {
    world = await createWorld({ clock: time.read });
    server = await startTwilio();
  });
  beforeEach(async () => {
    time.set(NOON);
    server.trouble([]);
    server.requests.length = 0;
    world.company = await world.addCompany();
  });
  afterAll(async () => {
    await server.close();
    await world.close();
  });
}
