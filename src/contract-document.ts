import type { components, operations } from './generated/openapi';

// openapi.yaml as far as this project reads it.

export type OperationId = keyof operations;
export type Schemas = components['schemas'];
/** What a lead token opens by itself. */
export type LeadTokenPower = Schemas['LeadTokenPower'];

export type FieldPermission = 'money' | 'routing' | 'company';
/**
 * Which part of a margin a column tells: what buyers pay, what traffic sources are paid, or both.
 */
/** `company`: what only users see who are not limited to records of teams. */
export type Side = 'sale' | 'purchase' | 'both' | 'company';

/** JSON Schema, and what this project adds to it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  description?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  unevaluatedProperties?: boolean;
  /** A format that JSON Schema does not know, checked by the server (http/validate.ts). */
  'x-format'?: string;
  /** What a create sets when the field is omitted. Not `default`: SDKs would send that. */
  'x-default'?: unknown;
  /** Further JSON types that requests may use; they are turned into the declared one. */
  'x-accepts'?: string[];
  /** Other names by which requests may send the field. */
  'x-other-names'?: string[];
  /** Fields that are accepted too, though an SDK has another way to send them. */
  'x-also-fields'?: Record<string, Schema>;
  /** The list that a text holds, its entries separated by commas; an array is accepted too. */
  'x-list'?: Schema;
  /** What the values of an object with any keys may be, more exactly than SDKs can say. */
  'x-values'?: Schema;
  /** It is accepted and kept, and does nothing yet; the description says why. */
  'x-without-effect'?: boolean;
  /** What it always is. Not `const`: many SDKs cannot read that. */
  'x-const'?: unknown;
  /** What it holds stays in it, also under the names of fields of the request. */
  'x-opaque'?: boolean;
  'x-collection'?: string;
  'x-grid'?: boolean;
  'x-external'?: boolean;
  /** Changes without being written to. */
  'x-moving'?: boolean;
  'x-secret'?: boolean;
  /** Of columns of a record: a lead token alone reads only what its own request has sent. */
  'x-sensitive'?: 'personal' | 'money';
  /** Of columns: limited callers read and use it only where they see that side of the record. */
  'x-side'?: Side;
  /** Of fields: what the lead token must be allowed, unless credentials of the company are sent. */
  'x-power'?: LeadTokenPower;
  'x-reference'?: string;
  /** For a reference whose table another field of the request decides: the table by its value. */
  'x-reference-by'?: { field: string; tables: Record<string, string> };
  /**
   * A caller who sends the field needs this permission too: `money` and `routing` of the resource
   * of the operation; `company` is `company_wide:update`, and only limited callers need it.
   */
  'x-field-permission'?: FieldPermission | FieldPermission[];
  /** Only superusers may send the field. */
  'x-superuser'?: boolean;
  /** Callers without that permission may lower the value, down from what others have set. */
  'x-lowerable'?: boolean;
  /** Of the codes of errors. */
  'x-codes'?: Record<string, { status: number; cause: string; cure: string }>;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  /** What the server takes when it is omitted. */
  'x-default'?: unknown;
  'x-other-names'?: string[];
  /** By values of it that change the success answer: what is answered then. */
  'x-answers'?: Record<string, OtherAnswer>;
  /** As for the column that it filters by. */
  'x-side'?: Side;
  /** The same by value. */
  'x-side-by'?: Record<string, Side>;
}

/** A success answer that SDKs are not shown: they can only read one. */
export interface OtherAnswer {
  media_type: string;
  /** The list in the declared answer, as a bare array. */
  rows?: boolean;
}

export type Content = Record<
  string,
  { schema: Schema; examples?: Record<string, { $ref: string }> }
>;

export interface RawOperation {
  operationId: OperationId;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: {
    content: Content;
    /** Media types that are accepted too. They are not declared: SDKs can only send one. */
    'x-also-accepts'?: Content;
  };
  responses: Record<string, { content?: Record<string, unknown>; $ref?: string }>;
  security?: Record<string, unknown>[];
  callbacks?: Record<string, Record<string, { post: { requestBody: { content: Content } } }>>;
  'x-scope'?: string;
  'x-power'?: LeadTokenPower;
  'x-effect'?: boolean;
  'x-unlogged'?: boolean;
  'x-unlimited'?: boolean;
  /** It changes what belongs to the whole company, for which limited callers need a permission. */
  'x-company-wide'?: boolean;
  /**
   * Names of the parameter and fields with records that others may use too. A limited caller needs
   * that permission where the record is not the caller's alone.
   */
  'x-shared'?: string[];
  /** What it makes or changes acts later, and then keeps to the access scope of its maker. */
  'x-acts-later'?: boolean;
  'x-own-transactions'?: boolean;
  /** It decides where a call goes: it has connections that no other request takes. */
  'x-routes'?: boolean;
  /** A request is refused for these fields alone: others that are wrong become warnings. */
  'x-lenient'?: string[];
  'x-own-number'?: string;
  /** What it is authenticated by, where no security scheme can say it. */
  'x-credentials'?: CredentialKind;
  /** The fields that the query string may have, instead of the body or along with it. */
  'x-fields'?: Schema;
}

/**
 * What a request is authenticated by: credentials of the company, the token of an offer or a
 * schedule, of an inbound webhook, an invitation or a confirmation, or the signature of a carrier.
 */
export type CredentialKind =
  | 'account'
  | 'lead_token'
  | 'webhook_token'
  | 'invitation_token'
  | 'confirmation_token'
  | 'carrier_signature';

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

type Examples = Record<string, { value: unknown }>;

export type PathItem = Partial<Record<Method, RawOperation>> & {
  parameters?: Parameter[];
  /** Further names of the path, which stand for it in all paths below it too. */
  'x-other-paths'?: string[];
};

export interface ContractDocument {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  paths: Record<string, PathItem>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, { content?: Record<string, { examples?: Examples }> }>;
    examples: Examples;
    securitySchemes: object;
  };
}
