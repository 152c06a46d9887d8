import type { Prisma } from '../../generated/prisma/client';
import type { PairTable } from '../../data/attachments';
import type { Db } from '../../data/db';
import type { Projection } from '../../data/projection/projection';
import type { Reference } from '../../data/records';
import type { Schemas } from '../../platform/contract/contract';
import type { Caller } from '../auth/caller';
import type { Upload } from '../request/upload';
import type { SingleWrite, StatementRequest } from './single-write';

// The work that is peculiar to a noun, which its writer does in this order (src/api/records/writer.ts).

export type Model = Prisma.ModelName;
/** The columns of a model. */
export type Stored<M extends Model> = Prisma.TypeMap['model'][M]['payload']['scalars'];

type Body<Name extends string> = Name extends keyof Schemas ? Schemas[Name] : Record<never, never>;
/** All fields that a create or an update of the noun may have. */
export type Fields<Name extends string> = Omit<
  Partial<Body<`${Name}Create`>> & Partial<Body<`${Name}Update`>> & Partial<Body<`${Name}Fields`>>,
  'serializer'
>;

/** Pairs of the noun and other records, of which the contract has a list of ids. */
export interface Part {
  pairs: PairTable;
  /** The column of the other record. */
  column: string;
  /** The others are locked before the record, or after it: see lock order in the architecture. */
  locked: 'before' | 'after';
}

interface Request {
  tx: Db;
  caller: Caller;
  now: Date;
  upload: Upload | undefined;
}
export interface Locking<Name extends string> extends Request {
  fields: Fields<Name>;
  isNew: boolean;
  /** The record in the path; undefined for a new one. */
  reference: Reference | undefined;
  /** Fields that the steps add to the reply, such as a secret that is shown once. */
  extra: Record<string, unknown>;
}
export interface Work<
  Name extends string,
  M extends Model,
  Locked,
  Reads extends keyof Stored<M>,
> extends Locking<Name> {
  locked: Locked;
  /** The ids of the records that the fields name, by field. */
  references: Readonly<Record<string, bigint | null>>;
  /** The ids of the records of parts, as far as they are locked before the record. */
  parts: ReadonlyMap<string, readonly bigint[]>;
  /** The columns of `reads` before the change; undefined for a new record. */
  before: Pick<Stored<M>, Reads> | undefined;
  /** Undefined for a record that is not inserted yet. */
  id: bigint | undefined;
}
/** The work of a new record, with the fields that a create requires. */
type Creation<Name extends string, W> = W & { fields: Omit<Body<`${Name}Create`>, 'serializer'> };
/** The work after the row is written; `row` has the columns that were. */
export type Saved<W> = Omit<W, 'id'> & { id: bigint; row: Readonly<Record<string, unknown>> };

/** The work of a noun beyond its columns, in the order in which it is done. */
export interface Steps<
  Name extends string,
  M extends Model,
  Locked,
  Reads extends keyof Stored<M> & string,
> {
  /** Columns of the locked record that the later steps need. */
  reads?: readonly Reads[];
  /** Fields of a new record that the request leaves out, beyond the defaults of the contract. */
  fill?: (request: Locking<Name>) => Promise<Fields<Name>>;
  /** Locks records that are locked before the record. */
  lock?: (request: Locking<Name>) => Promise<Locked>;
  /** Columns other than fields of the same name. Throws 422 for what is refused. */
  columns?: (work: Work<Name, M, Locked, Reads>) => object | Promise<object>;
  /** Inserts the record in place of a plain insert. */
  insert?: (work: Creation<Name, Work<Name, M, Locked, Reads>>) => Promise<bigint>;
  /** Rows of other tables. */
  save?: (work: Saved<Work<Name, M, Locked, Reads>>) => Promise<void>;
  /** The whole write as one statement; undefined where it needs more. Plain nouns need none. */
  statement?: (request: StatementRequest) => Promise<SingleWrite | undefined>;
  /** The row that `new` shows; the defaults when absent. */
  unsaved?: object | ((call: { db: Db; query: never }) => Promise<object>);
  deletion?: DeletionSteps<M, Reads>;
  /** The record keeps the file of a create. */
  keepsUpload?: true;
}

/** The work of a deletion, in the order in which it is done. */
interface DeletionSteps<M extends Model, Reads extends keyof Stored<M>> {
  /** Locks records that are locked before the record. */
  lock?: (request: Request & { reference: Reference }) => Promise<void>;
  /** Detaches what belongs to the record, beyond the declaration's `detach`. */
  detach?: (work: Deletion<M, Reads>) => Promise<void>;
  /** Deletes the record in place of marking its row. */
  remove?: (work: Deletion<M, Reads>) => Promise<void>;
  /** The consequences, once the row is marked. */
  finish?: (work: Deletion<M, Reads>) => Promise<void>;
}

export interface Deletion<M extends Model, Reads extends keyof Stored<M>> extends Request {
  id: bigint;
  before: Pick<Stored<M>, Reads>;
}

/** A noun, as its writer knows it. */
export interface Target<P extends Projection = Projection> {
  projection: P;
  model: Model;
  /** Set for fields that a create leaves out, and restored by a null. */
  defaults: object;
  /** Fields that name a record in a column of their own name, in the order of locks. */
  references: readonly string[];
  parts: Readonly<Record<string, Part>>;
  /** Fields that are stored as they are, in columns of their name. */
  columns: ReadonlySet<string>;
  /** Models whose rows a deletion deletes, or whose reference to the record it clears. */
  detach: { deleted?: readonly string[]; cleared?: readonly string[] };
}

/** How a request is answered; `db` is its transaction while it is written. */
export interface Reply<P extends Projection = Projection> {
  db: Db;
  now: Date;
  projection: P;
  serializer: string | undefined;
}

export interface ReadCall {
  db: Db;
  query: { serializer?: string; columns?: string[] } | Record<never, never>;
  body?: { serializer?: string } | undefined;
}
export interface RecordCall extends ReadCall {
  params: { id: Reference };
  if_match: string | undefined;
}
export interface WriteCall extends ReadCall {
  caller: Caller;
  body: object;
  upload?: Upload | undefined;
}

/** The steps of any noun, whose types its declaration has checked. */
export type AnySteps = Steps<string, Model, unknown, never>;
export type AnyWork = Work<string, Model, unknown, never>;
