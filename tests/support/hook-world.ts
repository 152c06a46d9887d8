import { openWorld } from './use-world';

/** A world whose webhooks are sent, with a receiver for them, for files with hooks of their own. */
export async function createHookWorld() {
  const world = await openWorld({ receiver: true, webhooks: true });
  return { ...world, world, number: () => world.nextNumber('+1310556') };
}

export type HookWorld = Awaited<ReturnType<typeof createHookWorld>>;
