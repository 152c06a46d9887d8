/** The effect of an erasure on the columns of a table. Columns are names separated by blanks. */
export interface TableData {
  /** Emptied where the row is the person's, or deleted with the row. */
  erased?: string;
  /**
   * Free text: the number and the addresses of the person are removed, wherever they occur. May be
   * erased too, where the row is the person's.
   */
  redacted?: string;
  keptColumns?: readonly KeptColumns[];
  /** Columns without data of callers and called persons. */
  impersonal?: readonly ImpersonalColumns[];
}

export interface KeptColumns {
  columns: string;
  /** The text of the receipt. */
  why: string;
  /** Rows that name the person are counted on the receipt, for people to change. */
  is_counted?: boolean;
}

export interface ImpersonalColumns {
  columns: string;
  why: string;
}

export type PersonalData = Readonly<Record<string, TableData>>;

/** One of a few words or codes, such as a status, a country, a time zone or an operation. */
export const codes = (columns: string): ImpersonalColumns => ({ columns, why: 'codes' });

/** Keys, digests, and names of files that the service generates. */
export const keys = (columns: string): ImpersonalColumns => ({ columns, why: 'keys' });

/** Data of the company, and of people who work for it or with it. */
export const business = (columns: string): ImpersonalColumns => ({ columns, why: 'business' });

/** Internal data of processes. */
export const service = (columns: string): ImpersonalColumns => ({ columns, why: 'service' });

export const inUse = (columns: string): KeptColumns => ({
  columns,
  why: 'a setting that is in use: change it where it is about the person',
  is_counted: true,
});

/** Keys of the company's other systems for a record that is not the person's. */
export const ownKeys = (columns: string): KeptColumns => ({
  columns,
  why: "the company's own key of a record: change it where it is about the person",
  is_counted: true,
});

export const atCarrier = (columns: string): KeptColumns => ({
  columns,
  why: 'the id at the carrier, by which costs are settled and the carrier deletes its own record',
});

export const forReports = (columns: string): KeptColumns => ({
  columns,
  why: 'names nobody; reports and money stay as they were',
});
