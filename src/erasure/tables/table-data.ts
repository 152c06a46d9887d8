/** What erasing a person does to the columns of a table. Columns are names between blanks. */
export interface TableData {
  /** Emptied where the row is of the person, or deleted with the row. */
  erased?: string;
  /**
   * What people write: the number and the addresses of the person are taken out, wherever they
   * stand. May be erased too, where the row is of the person.
   */
  redacted?: string;
  /** What stays. */
  kept?: readonly Kept[];
  /** What has nothing of a person who calls or is called. */
  impersonal?: readonly Impersonal[];
}

export interface Kept {
  columns: string;
  /** As the receipt says it. */
  why: string;
  /** Whether the rows that name the person are counted: one that does is for people to change. */
  is_counted?: boolean;
}

export interface Impersonal {
  columns: string;
  why: string;
}

export type PersonalData = Readonly<Record<string, TableData>>;

/** One of a few words or codes, such as a status, a country, a time zone or an operation. */
export const codes = (columns: string): Impersonal => ({ columns, why: 'codes' });

/** Keys, digests, and names of files that the service makes. */
export const keys = (columns: string): Impersonal => ({ columns, why: 'keys' });

/** Of the company, and of people who work for it or with it. */
export const business = (columns: string): Impersonal => ({ columns, why: 'business' });

/** Of processes, and of what they tell one another. */
export const service = (columns: string): Impersonal => ({ columns, why: 'service' });

/** What the company has set up, and what works with it. */
export const inUse = (columns: string): Kept => ({
  columns,
  why: 'a setting that is in use: change it where it is about the person',
  is_counted: true,
});

/** How the company's other systems call a record that is not the person's. */
export const ownKeys = (columns: string): Kept => ({
  columns,
  why: "the company's own key of a record: change it where it is about the person",
  is_counted: true,
});

/** Ids at carriers and mail services. */
export const atCarrier = (columns: string): Kept => ({
  columns,
  why: 'the id at the carrier, by which costs are settled and the carrier deletes its own record',
});

export const forReports = (columns: string): Kept => ({
  columns,
  why: 'names nobody; reports and money stay as they were',
});
