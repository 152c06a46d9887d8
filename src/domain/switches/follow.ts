import type { Logger } from 'pino';
import type { Database } from '../../data/client';
import { openFollowers, type Followers } from '../../data/followers';
import type { Caller } from '../../api/auth/caller';
import { unchangedRights } from '../../api/auth/unchanged-rights';
import { FIND_SWITCHES_TO_WAKE } from './queries/commands';

/** The channel on which `<company>/<switch>` is sent when a switch gets a command. */
export const COMMAND_CHANNEL = 'trunkline_switches';

export interface FollowedSwitch {
  caller: Caller;
  switch_id: string;
  /** The last command that was sent; the reader updates it. */
  after: number;
}

export type SwitchFollowers = Followers<FollowedSwitch>;

interface FollowDeps {
  database: Database;
  clock: () => Date;
  log: Logger;
}

/** Wakes requests that wait for commands; those end whose switch or rights are gone. */
export const openSwitchFollowers = ({ database, clock, log }: FollowDeps): SwitchFollowers =>
  openFollowers({
    database,
    log,
    channel: COMMAND_CHANNEL,
    toKey: ({ caller, switch_id }) => `${caller.company_id}/${switch_id}`,
    findToWake: async (followed) => {
      const callers = followed.map(({ caller }) => caller);
      const unchanged = await unchangedRights(database.sql, callers, clock());
      const rows = await database.sql(FIND_SWITCHES_TO_WAKE, {
        company_ids: callers.map(({ company_id }) => String(company_id)),
        switch_ids: followed.map(({ switch_id }) => switch_id),
        positions: followed.map(({ after }) => String(after)),
      });
      const ended = callers.flatMap((caller, index) =>
        unchanged.has(caller) ? [] : [{ n: index + 1, must_end: true }],
      );
      return [...rows, ...ended];
    },
  });
