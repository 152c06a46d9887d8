import type { Logger } from 'pino';
import type { Database } from '../../data/client';
import { openFollowers, type Followers, type Subscription } from '../../data/followers';
import { FIND_STREAMS_TO_WAKE } from './queries/streams';

/** The channel on which `<company>/<agent>` is sent when an agent gets an event. */
export const AGENT_CHANNEL = 'trunkline_agents';

export interface FollowedAgent {
  company_id: bigint;
  agent_id: bigint;
  access_token_id: bigint;
  /** The last event that was sent; the reader of the stream updates it. */
  after: string;
}

export type StreamSubscription = Subscription;
export type AgentStreams = Followers<FollowedAgent>;

interface StreamDeps {
  database: Database;
  clock: () => Date;
  log: Logger;
}

/** Wakes the event streams of this process; those end whose agent or credentials are gone. */
export const openAgentStreams = ({ database, clock, log }: StreamDeps): AgentStreams =>
  openFollowers({
    database,
    log,
    channel: AGENT_CHANNEL,
    toKey: ({ company_id, agent_id }) => `${company_id}/${agent_id}`,
    findToWake: (followed) => {
      const column = (name: keyof FollowedAgent) => followed.map((agent) => String(agent[name]));
      return database.sql(FIND_STREAMS_TO_WAKE, {
        company_ids: column('company_id'),
        agent_ids: column('agent_id'),
        access_token_ids: column('access_token_id'),
        positions: column('after'),
        now: clock().toISOString(),
      });
    },
  });
