import type { Call, Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { EventStream } from '../../api/reply/reply';
import { toKey } from '../../data/references';
import { changedAt } from '../../data/timestamps';
import { formatSecret } from '../../platform/egress/standard-webhooks';
import { notFound } from '../../platform/errors';
import type { Deps } from '../deps';
import { readCommand } from './commands';
import { requireSwitch } from './find-switch';
import { saveResult } from './save-result';
import { streamCommands, waitForCommands } from './wait-for-commands';

/**
 * Softswitches and their commands. A change locks the switch alone; a command is given by the code
 * that changes its call, and locks the switch last.
 */
const softswitch = noun({
  schema: 'Switch',
  singular: 'switch',
  plural: 'switches',
  search: ['name', 'external_record_id'],
  computed: {
    live_calls: `(
      SELECT count(*)
      FROM calls c
      WHERE c.company_id = t.company_id AND c.switch_id = t.id AND c.ended_at IS NULL
    )::int`,
    open_commands: `(
      SELECT count(*)
      FROM switch_commands m
      WHERE m.company_id = t.company_id AND m.switch_id = t.id AND m.result IS NULL
        AND m.expires_at > {now}::timestamptz
    )::int`,
  },
});

const SIGNING = { uuid: true, secret_version: true } as const;

export const switches = (deps: Deps) => ({ ...keepSwitches(deps), ...serveCommands(deps) });

const keepSwitches = (deps: Deps) => {
  const { pepper } = deps;
  const handlers = softswitch.handlers(deps, {
    save: async ({ tx, id, before, extra }) => {
      if (before) return;
      const signing = await tx.prisma.switch.findUniqueOrThrow({
        where: toKey(tx, id),
        select: SIGNING,
      });
      extra.secret = formatSecret(pepper, signing);
    },
  });
  const { change } = softswitch.writer(deps);
  return {
    ...handlers,

    // The previous secret stays valid for a day.
    rotateSwitchSecret: (call: Call<'rotateSwitchSecret'>) =>
      change(call, {
        work: async ({ tx, id, now }) => {
          const signing = await tx.prisma.switch.update({
            where: toKey(tx, id),
            data: { secret_version: { increment: 1 }, secret_rotated_at: now, ...changedAt(now) },
            select: SIGNING,
          });
          return { secret: formatSecret(pepper, signing) };
        },
      }),
  } satisfies Partial<Handlers>;
};

const serveCommands = ({ clock, live }: Deps) => {
  const follow = async (
    { params, db, caller }: Pick<Call<'listSwitchCommands'>, 'params' | 'db' | 'caller'>,
    after: number,
  ) => {
    const switchId = await requireSwitch(db, params.switch);
    const reader = { kind: 'switch', id: BigInt(switchId) } as const;
    return {
      followed: { caller, switch_id: switchId, after },
      takeSlot: () => live.takeSlot({ company_id: db.company_id, reader }),
    };
  };
  return {
    listSwitchCommands: async (call) => {
      const { query, db } = call;
      const { followed, takeSlot } = await follow(call, query.after ?? 0);
      const waitMs = (query.wait_seconds ?? 0) * 1000;
      const leave = waitMs > 0 ? takeSlot() : () => undefined;
      try {
        const waiting = { db, live, followed, wait_ms: waitMs, clock };
        const commands = await waitForCommands({ ...waiting, reader_gone: call.watchSender() });
        return { ...SUCCESS, commands, metadata: { root: 'commands' } };
      } finally {
        leave();
      }
    },

    streamSwitchCommands: async (call) => {
      const { query, db, last_event_id } = call;
      const after = /^\d{1,15}$/.test(last_event_id?.trim() ?? '') ? Number(last_event_id) : 0;
      const { followed, takeSlot } = await follow(call, after);
      const waitMs = (query.wait_seconds ?? 0) * 1000;
      return new EventStream((readerGone) => {
        readerGone.addEventListener('abort', takeSlot(), { once: true });
        return streamCommands({
          ...{ db, live, followed, wait_ms: waitMs, clock, reader_gone: readerGone },
        });
      });
    },

    answerSwitchCommand: async ({ params, body, db }) => {
      const key = { switch_id: await requireSwitch(db, params.switch), command_id: params.id };
      await saveResult(db, key, { result: body.result, reason: body.reason || null }, clock());
      const command = await readCommand(db, key, clock());
      if (!command) throw notFound();
      return { ...SUCCESS, command, metadata: { root: 'command' } };
    },
  } satisfies Partial<Handlers>;
};

const SUCCESS = { status: 200, success: true, errors: {} };
