// Lines of a softswitch to the telephone network, as routing sees them.

/** A trunk that calls may use now (prisma/sql/switches/reserve_trunks.sql). */
export interface Trunk {
  id: number;
  name: string;
  /** Null: any switch has it. */
  switch_id: number | null;
  host: string;
  prefixes: readonly string[];
  countries: readonly string[];
  dial_prefix: string;
  caller_id_rule: 'pass' | 'fixed' | 'withheld';
  caller_id: string | null;
  headers: SipHeaders | null;
  /** How many calls more it may take now; null for any number. */
  room: number | null;
}

export type SipHeaders = Record<string, string>;

/** The trunks of a call, in the order in which they are tried. */
export interface Lines {
  trunks: readonly Trunk[];
  /** Trunks that have failed for the call. */
  failed: ReadonlySet<number>;
  /** Buyers for which no trunk was left when those that ring with them had theirs. */
  without: ReadonlySet<number>;
  /** The country of a number, by its digits; null where it is not known. */
  findCountry: (digits: string) => string | null;
}

/** A trunk of a leg, with what is dialed through it. */
export interface Route {
  trunk_id: number;
  trunk: { name: string; host: string; number: string };
  caller_id: string | null;
  headers: SipHeaders;
}
