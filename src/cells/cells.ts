import { setTimeout } from 'node:timers/promises';
import type { AgentStreams } from '../agents/streams';
import type { Database } from '../db/client';
import type { Directory } from '../db/directory';
import type { RateLimitCounter } from '../db/rate-limit-counter';
import { sqlOn } from '../db/sql';
import type { TenantDatabases } from '../db/tenant';
import type { Deps } from '../deps';
import type { Node } from './address';
import { StartError } from '../start-error';
import { CLAIM_KEY, FIND_COMPANY, FIND_KEY, RELEASE_KEY, SAVE_COMPANY } from './queries/directory';
import { FIND_EMPTIEST, LIST_MOVED_COMPANIES } from './queries/open';

/** What a process has of a cell. */
export interface Part {
  /** For background work; its `tenants` are those of all cells. */
  deps: Deps;
  tenants: TenantDatabases;
  counter: RateLimitCounter;
}

/** Where a cell is. */
export interface Place extends Node {
  id: number;
  schema: string;
  state: string;
}

const REFRESH_MS = 1_000;
/** Nodes' clocks may differ, and what was written earlier may be committed later. */
const OVERLAP_MS = 60_000;

/** The cells of a distributed installation, as a process has opened them. */
export class Cells {
  private readonly parts = new Map<number, Part & { at: string }>();
  /** The cell of each company. */
  private readonly places = new Map<bigint, number>();
  private known_until = new Date(0);
  private readonly closing = new AbortController();

  /** `coordinator` has the directory. */
  constructor(private readonly coordinator: Database) {}

  /**
   * Opens a cell that is new or has moved to another node. Returns what the process had of it
   * before, which no request takes any more.
   */
  add({ id, state, host, port, ...place }: Place, open: (place: Place) => Part): Part | undefined {
    const at = `${host}:${port}`;
    const known = this.parts.get(id);
    // While it moves, it is not known yet where it will be.
    if (known && (known.at === at || state === 'moving')) return undefined;
    this.parts.set(id, { ...open({ id, state, host, port, ...place }), at });
    return known;
  }

  all(): readonly Part[] {
    return [...this.parts.values()];
  }

  /** The part with a company that is known: requests and jobs ask the directory first. */
  of(company_id: bigint): Part {
    const part = this.parts.get(this.places.get(company_id) ?? -1);
    if (!part) throw new Error(`the cell of the company ${company_id} is not known`);
    return part;
  }

  /** Learns of the companies that were given to a cell. */
  async refresh(): Promise<void> {
    const since = new Date(Math.max(0, this.known_until.getTime() - OVERLAP_MS));
    for (const row of await this.coordinator.sql(LIST_MOVED_COMPANIES, { since })) {
      this.places.set(BigInt(row.company_id), row.cell_id);
      this.known_until = row.changed_at;
    }
  }

  /** Follows the directory every second, until it is closed. */
  async watch(follow: () => Promise<void>, onError: (error: unknown) => void): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await follow().catch(onError);
      await setTimeout(REFRESH_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private learn(company_id: bigint, cell_id: number) {
    this.places.set(company_id, cell_id);
    const part = this.parts.get(cell_id);
    return part && sqlOn(part.deps.database.credentials);
  }

  readonly directory: Directory = {
    ofKey: async (kind, key) => {
      const [found] = await this.coordinator.sql(FIND_KEY, { kind, key });
      return found && this.learn(BigInt(found.company_id), found.cell_id);
    },
    ofCompany: async (company_id) => {
      const [found] = await this.coordinator.sql(FIND_COMPANY, { company_id });
      return found && this.learn(company_id, found.cell_id);
    },
    settle: async (company_id) => {
      const [emptiest] = await this.coordinator.sql(FIND_EMPTIEST, {});
      if (!emptiest) throw new StartError('No cell takes companies now: npx trunkline cells list');
      await this.coordinator.sql(SAVE_COMPANY, { company_id, cell_id: emptiest.id });
      this.learn(company_id, emptiest.id);
    },
    claim: async (kind, key, company_id) => {
      const [owner] = await this.coordinator.sql(CLAIM_KEY, { kind, key, company_id });
      return BigInt(owner!.company_id) === company_id;
    },
    release: async (kind, key, company_id) => {
      await this.coordinator.sql(RELEASE_KEY, { kind, key, company_id }).catch(() => undefined);
    },
  };

  readonly tenants: TenantDatabases = {
    of: (company_id) => this.of(company_id).tenants.of(company_id),
    ofRequest: (company_id, purpose) => this.of(company_id).tenants.ofRequest(company_id, purpose),
  };

  readonly counter: RateLimitCounter = {
    take: (subject) => this.of(BigInt(subject.company_id)).counter.take(subject),
    close: async () => {
      this.closing.abort();
      await Promise.all(this.all().map(({ counter }) => counter.close()));
    },
  };

  /** Event streams; the places for them are those of the process. */
  streams({ takePlace, close }: AgentStreams): AgentStreams {
    return {
      takePlace,
      follow: (followed) => this.of(followed.company_id).deps.live.follow(followed),
      close: () => {
        close();
        for (const { deps } of this.parts.values()) deps.live.close();
      },
    };
  }
}
