import type { Logger } from 'pino';
import { openAgentStreams, type AgentStreams } from '../agents/streams';
import type { Database } from '../db/client';
import { streamPlaces, type TakePlace } from '../http/stream-places';
import { CompanyStreams, type FollowedCompany, type FollowingCompany } from './company-streams';

export interface Live extends AgentStreams {
  /**
   * Takes a slot for a stream, and returns the function that releases it. Throws 429 if none is
   * left.
   */
  takePlace: TakePlace;
  followCompany(followed: FollowedCompany): FollowingCompany;
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
  return {
    takePlace: streamPlaces(deps.max_connections),
    follow: (followed) => agents.follow(followed),
    followCompany: (followed) => companies.follow(followed),
    close: () => {
      agents.close();
      companies.close();
    },
  };
}
