import type { operations } from '../generated/openapi';
import type { OperationId } from '../contract';
import type { Db } from '../db/tenant';
import type { Caller } from './auth/caller';
import type { DirectEntry } from './change-log';
import type { Confirmation } from './auth/confirmations';
import type { Invitation } from './auth/invitations';
import type { LeadOwner } from './auth/lead-tokens';
import type { SellersEndpoint } from './auth/webhook-tokens';
import type { Csv, Download, EventStream, Json, NotModified, Twiml } from './reply';
import type { SetAside } from './set-aside';
import type { Upload } from './upload';

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
/** Of x-also-fields and x-list, which the generated types do not know. */
interface AlsoFields {
  serializer?: never;
  csv_headers?: string[];
}
/** A GET that stands for a POST has the fields of its body in the query string (x-fields). */
type Body<Id extends OperationId> = Id extends `${infer Post extends OperationId}ByGet`
  ? DeclaredBody<Post>
  : DeclaredBody<Id>;

type Payload<R> = R extends { content: infer C }
  ? | (C extends { 'application/json': infer J } ? J | Json<J> | Csv : never)
    | (C extends { 'application/octet-stream': unknown } ? Download : never)
    | (C extends { 'text/xml': unknown } ? Twiml : never)
    | (C extends { 'text/event-stream': unknown } ? EventStream : never)
  : never;
type Success<Id extends OperationId, R = operations[Id]['responses']> =
  Payload<R[keyof R & (200 | 201 | 202 | 204)]> | (304 extends keyof R ? NotModified : never);

/** What a handler is given: everything already in the types of the contract. */
export interface Call<Id extends OperationId> {
  params: Parameters<Id, 'path'>;
  query: Parameters<Id, 'query'>;
  body: Body<Id>;
  /** The file that came with a multipart body. */
  upload: Upload | undefined;
  /** Checksums of If-Match and If-None-Match, when sent. */
  if_match: string | undefined;
  if_none_match: string | undefined;
  /** Last-Event-ID, when sent. */
  last_event_id?: string | undefined;
  caller: Caller;
  /** The offer or schedule whose lead token was sent, where one is asked for. */
  owner: LeadOwner | undefined;
  /** The endpoint of sellers that was called, where the path names one. */
  webhook?: SellersEndpoint | undefined;
  /** The invitation that is accepted, where one is asked for. */
  invitation?: Invitation | undefined;
  /** The address that is confirmed, where one is. */
  confirmation?: Confirmation | undefined;
  /** Of an operation with x-lenient: the fields that could not be used. */
  aside?: SetAside | undefined;
  /** Address of the caller. */
  ip: string;
  /** The caller's company and nothing else. */
  db: Db;
}

export interface Handler<Id extends OperationId> {
  (call: Call<Id>): Promise<Success<Id>>;
  /** The same in one statement where that is enough; undefined where it is not. */
  direct?: (call: Call<Id>, entry: DirectEntry | undefined) => Promise<Success<Id> | undefined>;
  /** Whether its record keeps the file of the request, which is then stored before it is called. */
  keeps_upload?: boolean;
}

/** A handler whose record keeps the file of the request. */
export const keepingUpload = <Id extends OperationId>(handler: Handler<Id>): Handler<Id> =>
  Object.assign(handler, { keeps_upload: true });
/** The whole API: an operation without handler, or with one of another type, does not compile. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
