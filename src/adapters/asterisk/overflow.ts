import { APP, type Ari, type Channel } from './ari/ari';
import { readSid, readVariable, type Live } from './begin';
import { OVERFLOW_CONTEXT } from './perform';
import type { OverflowedCall } from '../service/overflow';

// Calls that the dialplan has, as the service is away: Asterisk says when they end.

/** Where the dialplan keeps the number that was called: the overflow has another extension. */
const CALLED_VARIABLE = 'TRUNKLINE_CALLED';

type Overflowing = Omit<OverflowedCall, 'ended_at'>;

export const isOverflowing = ({ dialplan, id }: Channel): boolean =>
  dialplan.context === OVERFLOW_CONTEXT && !id.startsWith('tl-');

export type Overflow = ReturnType<typeof createOverflow>;

/** `report` gets each of them when it is over. */
export function createOverflow(ari: Ari, report: (call: OverflowedCall) => void) {
  const calls = new Map<string, Overflowing>();
  const end = (channel: string, endedAt: Date) => {
    const call = calls.get(channel);
    if (!call) return;
    calls.delete(channel);
    report({ ...call, ended_at: endedAt });
  };
  return {
    /** Has Asterisk say when the channel ends. */
    follow: async (channel: Channel) => {
      if (calls.has(channel.id)) return;
      const number =
        (await readVariable(CALLED_VARIABLE, channel.id, ari)) ?? channel.dialplan.exten;
      calls.set(channel.id, {
        ...{ sid: await readSid(channel.id, ari), number_called: number },
        caller_number: channel.caller.number || null,
        started_at: new Date(channel.creationtime),
      });
      await ari.ask({
        ...{ method: 'POST', path: `/applications/${APP}/subscription` },
        query: { eventSource: `channel:${channel.id}` },
      });
    },
    end,
    /** Ends those that are gone since the connection was lost. */
    endMissing: ({ channels }: Live, lostAt: Date) => {
      const live = new Set(channels.map(({ id }) => id));
      for (const channel of [...calls.keys()]) if (!live.has(channel)) end(channel, lostAt);
    },
  };
}
