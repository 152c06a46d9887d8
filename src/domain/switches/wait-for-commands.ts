import type { Db } from '../../data/db';
import { readFollowed } from '../../data/followers';
import { listOpenCommands, MAX_COMMANDS, type Command } from './commands';
import type { FollowedSwitch, SwitchFollowers } from './follow';
import { NOTE_ASKED } from './queries/switches';

interface Waiting {
  db: Db;
  live: { followSwitch: SwitchFollowers['follow'] };
  followed: FollowedSwitch;
  wait_ms: number;
  clock: () => Date;
  reader_gone: AbortSignal;
}

const RETRY_MS = 2_000;

/** Yields the commands of a switch after `followed.after`; empty lists are heartbeats. */
const followCommands = ({ db, live, followed, clock, ...times }: Waiting) =>
  readFollowed({
    follow: () => live.followSwitch(followed),
    read: async () => {
      const now = clock();
      await db.sql(NOTE_ASKED, { switch_id: followed.switch_id, now });
      const commands = await listOpenCommands(db, followed, now);
      followed.after = commands.at(-1)?.id ?? followed.after;
      return commands;
    },
    max_rows: MAX_COMMANDS,
    ...times,
  });

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
