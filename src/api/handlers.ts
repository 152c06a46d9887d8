import type { operations } from '../generated/openapi';
import type { OperationId } from '../platform/contract/contract';
import type { FieldFaults } from '../platform/errors';
import type { Db } from '../data/db';
import type { Caller } from './auth/caller';
import type { AuditEntry } from './records/change-log';
import type { Confirmation, Invitation, LeadOwner, SellersEndpoint } from './auth/scheme';
import type { Csv, Download, EventStream, Json, NotModified, Twiml } from './reply/reply';
import type { IgnoredFields } from './request/set-aside';
import type { Upload } from './request/upload';

type Parameters<Id extends OperationId, In extends 'path' | 'query'> =
  NonNullable<operations[Id]['parameters'][In]> extends never
    ? Record<never, never>
    : NonNullable<operations[Id]['parameters'][In]>;
type DeclaredBody<Id extends OperationId> = operations[Id] extends { requestBody?: never }
  ? undefined
  : operations[Id] extends { requestBody?: { content: { 'application/json': infer B } } }
    ? B
    : operations[Id] extends {
          requestBody: { content: { 'application/x-www-form-urlencoded': infer B } };
        }
      ? B
      : operations[Id] extends { requestBody: { content: { 'multipart/form-data': infer B } } }
        ? Omit<B, 'import_file' | keyof AlsoFields> & AlsoFields
        : undefined;
/** Fields of x-also-fields and x-list, which the generated types lack. */
interface AlsoFields {
  serializer?: never;
  headers?: string[];
}
/** A GET that stands for a POST has the fields of its body in the query string (x-fields). */
type Body<Id extends OperationId> = Id extends `${infer Post extends OperationId}ByGet`
  ? DeclaredBody<Post>
  : DeclaredBody<Id>;

type Payload<R> = R extends { content: infer C }
  ? | (C extends { 'application/json': infer J } ? J | Json<J> | Csv : never)
    | (C extends { 'application/octet-stream': unknown } | { 'audio/*': unknown }
        ? Download
        : never)
    | (C extends { 'text/xml': unknown } ? Twiml : never)
    | (C extends { 'text/event-stream': unknown } ? EventStream : never)
  : never;
type Success<Id extends OperationId, R = operations[Id]['responses']> =
  Payload<R[keyof R & (200 | 201 | 202 | 204)]> | (304 extends keyof R ? NotModified : never);

/** The input of a handler, already in the types of the contract. */
export interface Call<Id extends OperationId> {
  params: Parameters<Id, 'path'>;
  query: Parameters<Id, 'query'>;
  body: Body<Id>;
  upload: Upload | undefined;
  /** Checksums of If-Match and If-None-Match, when sent. */
  if_match: string | undefined;
  if_none_match: string | undefined;
  last_event_id?: string | undefined;
  caller: Caller;
  /** The offer or schedule whose lead token was sent, where the operation takes one. */
  owner: LeadOwner | undefined;
  /** The endpoint of sellers that was called, where the path names one. */
  webhook?: SellersEndpoint | undefined;
  invitation?: Invitation | undefined;
  confirmation?: Confirmation | undefined;
  /** For an operation with x-lenient: the fields that could not be used. */
  ignored?: IgnoredFields | undefined;
  /** Placeholders that the sender has not replaced, by field. */
  warnings?: FieldFaults;
  ip: string;
  /** Aborted when the sender closes the connection: for handlers that wait. */
  watchSender: () => AbortSignal;
  /** Access to the data of the caller's company only. */
  db: Db;
}

export interface Handler<Id extends OperationId> {
  (call: Call<Id>): Promise<Success<Id>>;
  /** Fast path: one statement. Undefined means: use the handler. */
  singleStatement?: (
    call: Call<Id>,
    entry: AuditEntry | undefined,
  ) => Promise<Success<Id> | undefined>;
  /** The record keeps the file of the request, which is stored before the handler is called. */
  keeps_upload?: boolean;
}

export const keepingUpload = <Id extends OperationId>(handler: Handler<Id>): Handler<Id> =>
  Object.assign(handler, { keeps_upload: true });
/** The whole API: an operation without handler, or with one of another type, does not compile. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
