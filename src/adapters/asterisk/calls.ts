import { startActor, type Actor, type ActorEdges, type Begin } from './actor';
import type { Live } from './begin';
import type { Call, Input } from './call/call';
import type { Command } from '../service/service';

// The calls of this process, and which of them a channel is of.

interface Route {
  actor: Actor;
  /** Absent: the caller. */
  leg?: string;
}

export type Calls = ReturnType<typeof createCalls>;

export function createCalls(edges: ActorEdges) {
  const routes = new Map<string, Route>();
  const actors = new Set<Actor>();
  return {
    actors: actors as ReadonlySet<Actor>,
    has: (channel: string): boolean => routes.has(channel),
    start: (call: Call, begin: Begin): Actor => {
      const actor = startActor(call, edges, begin);
      actors.add(actor);
      routes.set(call.channel, { actor });
      return actor;
    },
    /** Its legs are known by their channels from now on. */
    changed: (actor: Actor) => {
      for (const [leg, { channel }] of Object.entries(actor.call.legs))
        if (!routes.has(channel)) routes.set(channel, { actor, leg });
    },
    forget: (actor: Actor) => {
      actors.delete(actor);
      for (const [channel, route] of routes) if (route.actor === actor) routes.delete(channel);
    },
    /** Passes a fact about a channel to its call. */
    pass: (channel: string, read: (leg: string | undefined) => Input | undefined): void => {
      const route = routes.get(channel);
      const fact = route && read(route.leg);
      if (fact) route.actor.take(fact);
    },
    findCall: ({ call_uuid, call_sid }: Command): Actor | undefined =>
      [...actors].find(({ call }) => call.uuid === call_uuid || call.sid === call_sid),
    /** Ends channels that have ended while nothing was heard of Asterisk. */
    endMissing: ({ channels }: Live): void => {
      const live = new Set(channels.map(({ id }) => id));
      for (const actor of actors) {
        for (const [leg, { channel }] of Object.entries(actor.call.legs))
          if (!live.has(channel)) actor.take({ type: 'leg_over', leg, cause: {} });
        if (!live.has(actor.call.channel)) actor.take({ type: 'caller_over', cause: {} });
      }
    },
  };
}
