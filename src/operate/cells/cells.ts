import type { Live } from '../../domain/events/live';
import type { Database } from '../../data/client';
import type { Directory } from '../../data/directory';
import type { RateLimitCounter } from '../../data/rate-limits/rate-limit-counter';
import { sqlOn, type Sql } from '../../data/sql';
import type { TenantDatabases } from '../../data/tenant';
import type { Deps } from '../../domain/deps';
import type { Node } from './address';
import { StartError } from '../../platform/start-error';
import {
  CLAIM_KEY,
  FIND_COMPANY,
  FIND_KEY,
  RELEASE_KEY,
  SAVE_COMPANY,
  DELETE_KEY,
  FIND_KEPT_KEYS,
  LIST_OLD_KEYS,
} from './queries/directory';
import { FIND_EMPTIEST, LIST_MOVED_COMPANIES } from './queries/open';
import { pause } from '../../platform/pause';

/** A cell as opened by this process. */
export interface Part {
  /** For background work; its `tenants` are those of all cells. */
  deps: Deps;
  tenants: TenantDatabases;
  counter: RateLimitCounter;
}

export interface CellLocation extends Node {
  id: number;
  schema: string;
  state: string;
}

/** A company is between two cells: its requests are answered 503, and its jobs wait. */
export class CompanyMoves extends Error {
  /** SQLSTATE of a PostgreSQL that cannot serve now (src/api/reply/database-errors.ts). */
  readonly code = '57P03';
}

const REFRESH_MS = 1_000;
const MOVES = -1;
/** Clocks of nodes may differ, and earlier writes may be committed later. */
const OVERLAP_MS = 60_000;

export class Cells {
  private readonly parts = new Map<number, Part & { at: string }>();
  /** The cell of each company; MOVES while it is between two. */
  private readonly cellByCompany = new Map<bigint, number>();
  private refreshedUntil = new Date(0);
  private readonly closing = new AbortController();

  /** `coordinator` has the directory. */
  constructor(private readonly coordinator: Database) {}

  /**
   * Opens a cell that is new or has moved to another node. Returns the part that it replaces, which
   * no request takes any more.
   */
  add(
    { id, state, host, port, ...rest }: CellLocation,
    open: (cell: CellLocation) => Part,
  ): Part | undefined {
    const at = `${host}:${port}`;
    const existingPart = this.parts.get(id);
    // While it moves, its next node is not known yet.
    if (existingPart && (existingPart.at === at || state === 'moving')) return undefined;
    this.parts.set(id, { ...open({ id, state, host, port, ...rest }), at });
    return existingPart;
  }

  listParts(): readonly Part[] {
    return [...this.parts.values()];
  }

  /** Returns the part of a known company: requests and jobs ask the directory first. */
  requirePart(companyId: bigint): Part {
    const cell = this.cellByCompany.get(companyId);
    if (cell === MOVES) throw new CompanyMoves(`company ${companyId} moves to another cell`);
    if (cell === undefined) throw new Error(`the cell of the company ${companyId} is not known`);
    const part = this.parts.get(cell);
    // A cell becomes known a second after it was made.
    if (!part) throw new CompanyMoves(`cell ${cell} is not known yet`);
    return part;
  }

  /** Reads which companies were assigned to cells since the last time. */
  async refresh(): Promise<void> {
    const since = new Date(Math.max(0, this.refreshedUntil.getTime() - OVERLAP_MS));
    for (const row of await this.coordinator.sql(LIST_MOVED_COMPANIES, { since })) {
      this.learn(BigInt(row.company_id), row);
      this.refreshedUntil = row.changed_at;
    }
  }

  /** Follows the directory every second, until closed. */
  async watch(follow: () => Promise<void>, onError: (error: unknown) => void): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await follow().catch(onError);
      await pause(REFRESH_MS, signal);
    }
  }

  private learn(companyId: bigint, { cell_id, moves }: { cell_id: number; moves: boolean }) {
    this.cellByCompany.set(companyId, moves ? MOVES : cell_id);
  }

  private buildSql(companyId: bigint): Sql {
    return sqlOn(this.requirePart(companyId).deps.database.credentials);
  }

  readonly directory: Directory = {
    findKeyDatabase: async (kind, key) => {
      const [owner] = await this.coordinator.sql(FIND_KEY, { kind, key });
      if (!owner) return undefined;
      const companyId = BigInt(owner.company_id);
      this.learn(companyId, owner);
      return this.buildSql(companyId);
    },
    findCompanyDatabase: async (companyId) => {
      const [assignment] = await this.coordinator.sql(FIND_COMPANY, { company_id: companyId });
      if (!assignment) return undefined;
      this.learn(companyId, assignment);
      return this.buildSql(companyId);
    },
    assignCompany: async (companyId) => {
      const [emptiest] = await this.coordinator.sql(FIND_EMPTIEST, {});
      if (!emptiest) throw new StartError('No cell takes companies now: npx trunkline cells list');
      await this.coordinator.sql(SAVE_COMPANY, { company_id: companyId, cell_id: emptiest.id });
      this.learn(companyId, { cell_id: emptiest.id, moves: false });
    },
    claim: async (kind, key, companyId) => {
      const [owner] = await this.coordinator.sql(CLAIM_KEY, { kind, key, company_id: companyId });
      return BigInt(owner!.company_id) === companyId;
    },
    release: async (kind, key, companyId) => {
      await this.coordinator
        .sql(RELEASE_KEY, { kind, key, company_id: companyId })
        .catch(() => undefined);
    },
    clean: async () => {
      for (const [cellId, { deps }] of this.parts)
        await cleanDirectory(this.coordinator.sql, { cell_id: cellId, sql: deps.database.sql });
    },
  };

  readonly tenants: TenantDatabases = {
    of: (companyId) => this.requirePart(companyId).tenants.of(companyId),
    ofRequest: (companyId, purpose) =>
      this.requirePart(companyId).tenants.ofRequest(companyId, purpose),
  };

  readonly counter: RateLimitCounter = {
    take: (subject) => this.requirePart(BigInt(subject.company_id)).counter.take(subject),
    close: async () => {
      this.closing.abort();
      await Promise.all(this.listParts().map(({ counter }) => counter.close()));
    },
  };

  /** Event streams; their slots are those of the process. */
  buildStreams(processStreams: Live): Live {
    return {
      takeSlot: processStreams.takeSlot,
      follow: (followed) => this.requirePart(followed.company_id).deps.live.follow(followed),
      followCompany: (followed) =>
        this.requirePart(followed.caller.company_id).deps.live.followCompany(followed),
      followSwitch: (followed) =>
        this.requirePart(followed.caller.company_id).deps.live.followSwitch(followed),
      close: () => {
        processStreams.close();
        for (const { deps } of this.parts.values()) deps.live.close();
      },
    };
  }
}

const PAGE = 1_000;

/**
 * Releases the keys of a cell's companies that no record has: the record was deleted, or never
 * written. A key that is claimed meanwhile is kept.
 */
async function cleanDirectory(
  coordinator: Sql,
  { cell_id, sql }: { cell_id: number; sql: Sql },
): Promise<void> {
  for (let after = { after_kind: '', after_key: '' }; ;) {
    const old = await coordinator(LIST_OLD_KEYS, { cell_id, ...after, max: PAGE });
    const last = old.at(-1);
    if (!last) return;
    const usedKeys = await sql(FIND_KEPT_KEYS, {
      kinds: old.map(({ kind }) => kind),
      keys: old.map(({ key }) => key),
      companies: old.map(({ company_id }) => company_id),
    });
    const names = new Set(usedKeys.map(({ kind, key }) => `${kind} ${key}`));
    const unused = old.filter(({ kind, key }) => !names.has(`${kind} ${key}`));
    for (const { kind, key, claimed_at } of unused)
      await coordinator(DELETE_KEY, { kind, key, claimed_at });
    after = { after_kind: last.kind, after_key: last.key };
  }
}
