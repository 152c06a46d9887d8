import type { Logger } from 'pino';
import { openAgentStreams, type AgentStreams } from '../agents/streams';
import { openSwitchFollowers, type SwitchFollowers } from '../switches/follow';
import type { Database } from '../../data/client';
import { createStreamSlots, type TakeStreamSlot } from '../../api/reply/stream-places';
import { CompanyStreams, type FollowRequest, type CompanyFollower } from './company-streams';

export interface Live extends AgentStreams {
  /**
   * Takes a slot for a stream, and returns the function that releases it. Throws 429 if none is
   * left.
   */
  takeSlot: TakeStreamSlot;
  followCompany(followed: FollowRequest): CompanyFollower;
  followSwitch: SwitchFollowers['follow'];
  /** Ends all streams, and later ones as soon as they are opened. */
  close(): void;
}

interface LiveDeps {
  database: Database;
  clock: () => Date;
  log: Logger;
  max_connections: number;
}

export function openLive(deps: LiveDeps): Live {
  const agents = openAgentStreams(deps);
  const companies = new CompanyStreams(deps);
  const switches = openSwitchFollowers(deps);
  return {
    takeSlot: createStreamSlots(deps.max_connections),
    follow: (followed) => agents.follow(followed),
    followCompany: (followed) => companies.follow(followed),
    followSwitch: (followed) => switches.follow(followed),
    close: () => {
      agents.close();
      companies.close();
      switches.close();
    },
  };
}
