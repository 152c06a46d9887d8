import type { Handlers } from '../../api/handlers';
import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { buildReferenceProblem } from '../../data/records';
import { HttpProblem } from '../../platform/errors';
import type { Deps } from '../deps';
import { giveCommand, readCommand, type CommandDeps, type CommandKey } from '../switches/commands';
import { requireSwitch } from '../switches/find-switch';
import { endLostCall } from './lost-call';
import { SYNC_SWITCH } from './queries/sync-switch';
import { findCallBy, readAttempts } from './read-call';
import { readCallState } from './call-state';
import { TALKING_LEASE_SECONDS } from './session';

/** How often a call that changes meanwhile is read again; the next sync ends it otherwise. */
const MAX_READS = 5;
/** A switch that asks later has no use for a command. */
const COMMAND_SECONDS = 60;

/** Reports of softswitches about all of their calls, and commands that people give them. */
export const switchCalls = ({ clock, queue }: Deps) =>
  ({
    syncSwitch: async ({ params, body: { boot_id, live }, db }) => {
      const now = clock();
      const switchId = await requireSwitch(db, params.switch);
      const [synced] = await db.sql(SYNC_SWITCH, {
        ...{ switch_id: switchId, now, boot_id, live, lease_seconds: TALKING_LEASE_SECONDS },
      });
      const { renewed, ended, unknown, gone } = synced!;
      const lost: string[] = [];
      for (const { id, seen_at } of gone) {
        const uuid = await endGoneCall(db, id, new Date(seen_at), now);
        if (uuid) lost.push(uuid);
      }
      return {
        ...{ status: 200, success: true, errors: {} },
        ...{ renewed: renewed!, ended: ended!, lost, unknown: unknown! },
        metadata: { root: 'renewed' },
      };
    },

    createSwitchCommand: async ({ params, body, db }) => {
      const now = clock();
      const switchId = await requireSwitch(db, params.switch);
      const key = await db.transaction((tx) => orderCommand(tx, body, { queue, now, switchId }));
      const command = await readCommand(db, key, now);
      return {
        ...{ status: 201, success: true, errors: {}, command: command! },
        metadata: { root: 'command' },
      };
    },
  }) satisfies Partial<Handlers>;

/**
 * Ends a call that its switch no longer has, and returns its uuid; undefined when an event ends it
 * first.
 */
async function endGoneCall(
  db: Db,
  id: number,
  seenAt: Date,
  now: Date,
): Promise<string | undefined> {
  for (let time = 0; time < MAX_READS; time++) {
    const state = await readCallState(db, id, { may_connect: false });
    if (!state || state.call.ended_at !== null) return undefined;
    const loss = { seen_at: seenAt, message: 'its switch no longer has it', now };
    if (await endLostCall(db, state, loss)) return state.call.uuid;
  }
  return undefined;
}

type Order = Schemas['SwitchCommandCreate'];

/** Throws 422 where the switch cannot carry it out. */
async function orderCommand(
  tx: Db,
  { call_id, command, attempt, number }: Order,
  { switchId, ...deps }: CommandDeps & { switchId: string },
): Promise<CommandKey> {
  const call = await findCallBy(tx, call_id);
  if (!call) throw buildReferenceProblem('call_id', [String(call_id)]);
  // A switch may still have a call that has ended here.
  if (call.ended_at !== null && command !== 'refresh')
    throw HttpProblem.field('call_id', 'wrong_state', 'must be a call in progress');
  if (command === 'transfer' && !number)
    throw HttpProblem.field('number', 'missing_field', 'must be key with transfer');
  if (command === 'stop_leg') {
    const attempts = await readAttempts(tx, call.id);
    if (!attempts.some(({ uuid }) => uuid === attempt?.toLowerCase()))
      throw HttpProblem.field('attempt', 'unknown_reference', 'must be an attempt of this call');
  }
  const key = await giveCommand(
    tx,
    call.id,
    {
      ...{ command, valid_seconds: COMMAND_SECONDS },
      ...(command === 'stop_leg' && { attempt: attempt! }),
      ...(command === 'transfer' && { number: number! }),
    },
    deps,
  );
  if (key?.switch_id !== switchId)
    throw HttpProblem.field('call_id', 'wrong_state', 'must be a call of this switch');
  return key;
}
