// The contract as the console reads it: the fields of its forms, the columns, filters and orders
// of its tables. Made by describe-nouns.ts, read in the browser.

export type FieldType = 'text' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'any';

/** A field of a form, a column of a table or a filter of a list. */
export interface FieldContract {
  type: FieldType;
  nullable?: true;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  min_length?: number;
  max_length?: number;
  max_items?: number;
  pattern?: string;
  /** `date-time`, `email`, `uri`, or a format of the contract such as `telephone`. */
  format?: string;
  /** The noun whose id the field takes. */
  reference?: string;
  /** Only callers with one of these permissions may write it. */
  permissions?: readonly string[];
  /** The part of the margin that it shows: limited callers see it only where they see that part. */
  money?: 'sale' | 'purchase' | 'both' | 'company';
  superuser?: true;
  secret?: true;
  /** Present in only one of the two bodies. */
  only?: 'create' | 'update';
  required?: true;
  default?: unknown;
  items?: FieldContract;
  fields?: Fields;
  /** The values of a map with free names. */
  values?: FieldContract;
  /** The first sentence of its description. */
  help?: string;
}

export type Fields = Readonly<Record<string, FieldContract>>;

export type Verb = 'list' | 'show' | 'new' | 'create' | 'update' | 'delete';

export interface OperationContract {
  scope?: string;
  /** Only for callers who see all records of the company. */
  unlimited?: true;
  company_wide?: true;
}

/** A noun of the API: `buyers`, with the operations that it has. */
export interface NounContract {
  /** Keys of the record and of the list in answers. */
  record_key: string;
  list_key: string;
  verbs: Partial<Record<Verb, OperationContract>>;
  read: Fields;
  write: Fields;
  filters: Fields;
  orders: readonly string[];
  serializers: readonly string[];
  csv?: true;
}

export interface ConsoleContract {
  nouns: Readonly<Record<string, NounContract>>;
}
