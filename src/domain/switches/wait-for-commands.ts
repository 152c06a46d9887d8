import type { Db } from '../../data/db';
import { listOpenCommands, type Command } from './commands';
import type { FollowedSwitch, SwitchFollowers } from './follow';

interface Waiting {
  db: Db;
  live: { followSwitch: SwitchFollowers['follow'] };
  followed: FollowedSwitch;
  wait_ms: number;
  clock: () => Date;
  reader_gone: AbortSignal;
}

/** A stream without commands sends a comment this often. */
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;

/**
 * Yields the commands of a switch: first the open ones after `followed.after`, then new ones, until
 * `wait_ms` have passed, the reader is gone, or the request must end. Empty lists are heartbeats.
 */
async function* followCommands(waiting: Waiting): AsyncGenerator<Command[]> {
  const { db, live, followed, wait_ms, clock, reader_gone } = waiting;
  const until = performance.now() + wait_ms;
  // Followed before the first read, so that no command between the two is missed.
  const following = wait_ms > 0 ? live.followSwitch(followed) : undefined;
  const stop = () => following?.close();
  reader_gone.addEventListener('abort', stop);
  try {
    while (!reader_gone.aborted) {
      const commands = await listOpenCommands(db, followed, clock());
      followed.after = commands.at(-1)?.id ?? followed.after;
      yield commands;
      const left = until - performance.now();
      if (!following || following.over || left <= 0) return;
      if (commands.length === 0) await following.wait(Math.min(HEARTBEAT_MS, left));
    }
  } finally {
    reader_gone.removeEventListener('abort', stop);
    stop();
  }
}

/** The first commands that there are, or none after the wait. */
export async function waitForCommands(waiting: Waiting): Promise<Command[]> {
  for await (const commands of followCommands(waiting)) if (commands.length > 0) return commands;
  return [];
}

/** Commands as text of server-sent events. */
export async function* streamCommands(waiting: Waiting): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\nid: ${waiting.followed.after}\n\n`;
  for await (const commands of followCommands(waiting)) {
    for (const command of commands)
      yield `id: ${command.id}\nevent: command\ndata: ${JSON.stringify(command)}\n\n`;
    if (commands.length === 0) yield ': \n\n';
  }
}
