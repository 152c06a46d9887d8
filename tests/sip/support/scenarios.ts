/** The error of a scenario, which its test throws later; undefined without one. */
const settle = (run: Promise<void>): Promise<unknown> => run.catch((error: unknown) => error);

/** Lines of each log that a failure shows. */
const LOG_LINES = 60;

interface Stage<World> {
  /** The calls that the tests are about. */
  title: string;
  /** Programs that are not installed; undefined if all are. */
  missing: string | undefined;
  side_by_side: boolean;
  open(): Promise<World>;
  close(world: World): Promise<void>;
  listLogs(world: World): string[];
}

/**
 * Registers tests that share a world, and one that is skipped where programs are missing. Those
 * that run side by side all start at once; each is still a test of its own.
 */
export function testTogether<World>(
  scenarios: Record<string, (world: World) => Promise<void>>,
  { title, missing, side_by_side, open, close, listLogs }: Stage<World>,
): void {
  if (missing) {
    test.skip(`${title}: ${missing}`, () => undefined);
    return;
  }
  let world: World | undefined;
  const running = new Map<string, Promise<unknown>>();
  beforeAll(async () => {
    world = await open();
    if (!side_by_side) return;
    for (const [name, run] of Object.entries(scenarios)) running.set(name, settle(run(world)));
  });
  afterAll(() => world && close(world));
  for (const [name, run] of Object.entries(scenarios))
    test(name, async () => {
      const outcome = await (running.get(name) ?? settle(run(world!)));
      if (!(outcome instanceof Error)) return;
      for (const log of listLogs(world!))
        outcome.message += `\n---\n${log.split('\n').slice(-LOG_LINES).join('\n')}`;
      throw outcome;
    });
}
