import type { Db } from '../../data/db';
import type { Queue } from '../../data/jobs/queue';
import type { Schemas } from '../../platform/contract/contract';
import { COMMAND_CHANNEL } from './follow';
import { ADD_COMMAND, LIST_OPEN_COMMANDS, READ_COMMAND } from './queries/commands';

// The way back to a softswitch: what it is to do about a call that it has reported.

/** Those that other code gives; calls are placed by ./originate.ts. */
export type CommandKind =
  'hang_up' | 'refresh' | 'stop_leg' | 'play_keys' | 'start_recording' | 'transfer';

export interface NewCommand {
  command: CommandKind;
  /** Seconds after which it is useless. */
  valid_seconds: number;
  /** The uuid of the attempt. */
  attempt?: string | undefined;
  digits?: string;
  number?: string;
  /** The event of the call that has the digits. */
  key_press_id?: number;
}

export interface CommandDeps {
  queue: Queue;
  now: Date;
}

export interface CommandKey {
  switch_id: string;
  command_id: string;
}

/**
 * Gives the switch of a call a command in the transaction of `db`; undefined where no switch has
 * the call. Locks the switch, after all others.
 */
export async function giveCommand(
  db: Pick<Db, 'sql' | 'query' | 'company_id'>,
  callId: number,
  command: NewCommand,
  { queue, now }: CommandDeps,
): Promise<CommandKey | undefined> {
  const [row] = await db.sql(ADD_COMMAND, {
    ...{ call_id: callId, now, channel: COMMAND_CHANNEL },
    command: JSON.stringify(command),
  });
  const { switch_id, command_id, is_pushed } = row!;
  if (switch_id === null || command_id === null) return undefined;
  const key = { switch_id, command_id };
  if (is_pushed)
    await queue.add(db, 'push_switch_command', { company_id: String(db.company_id), ...key });
  return key;
}

export type Command = Schemas['SwitchCommand'];

/** More follow after the last of them. */
export const MAX_COMMANDS = 500;

export const listOpenCommands = (
  db: Pick<Db, 'sql'>,
  { switch_id, after }: { switch_id: string; after: number },
  now: Date,
): Promise<Command[]> => db.sql(LIST_OPEN_COMMANDS, { switch_id, after, now, limit: MAX_COMMANDS });

export const readCommand = async (
  db: Pick<Db, 'sql'>,
  { switch_id, command_id }: { switch_id: string; command_id: number | string },
  now: Date,
): Promise<Command | undefined> => (await db.sql(READ_COMMAND, { switch_id, command_id, now }))[0];
