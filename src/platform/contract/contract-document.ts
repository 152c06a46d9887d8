import type { components, operations } from '../../generated/openapi';

// openapi.yaml as far as this project reads it.

export type OperationId = keyof operations;
export type Schemas = components['schemas'];
/** An action that a lead token permits without credentials of the company. */
export type LeadTokenPower = Schemas['LeadTokenPower'];

export type FieldPermission = 'money' | 'routing' | 'company';
/**
 * The part of a margin that a column shows: what buyers pay, what traffic sources are paid, or
 * both. `company`: visible only to users who are not limited to records of teams.
 */
export type MoneyVisibility = 'sale' | 'purchase' | 'both' | 'company';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  minimum?: number;
  /** The first is shown. An empty list: the property is rare, and left out of examples. */
  examples?: unknown[];
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
  /**
   * A format that JSON Schema does not know, checked by the server (src/api/request/validate.ts).
   */
  'x-format'?: string;
  /** Set by a create that omits the field. Not `default`: SDKs would send that. */
  'x-default'?: unknown;
  /** Further JSON types that requests may use; they are turned into the declared one. */
  'x-accepts'?: string[];
  'x-other-names'?: string[];
  /** Fields that are accepted too, though an SDK has another way to send them. */
  'x-also-fields'?: Record<string, Schema>;
  /** The list that a text holds, its entries separated by commas; an array is accepted too. */
  'x-list'?: Schema;
  /** Schema of the values of an object with arbitrary keys, stricter than SDKs can express. */
  'x-values'?: Schema;
  /** Accepted and stored without effect so far; the description says why. */
  'x-without-effect'?: boolean;
  /** Merged into what refers to it; in a part, the property `x-own` is the place of all others. */
  'x-part'?: boolean;
  /** The only value it can have. Not `const`: many SDKs cannot read that. */
  'x-const'?: unknown;
  /** Its content stays in it, even under names of fields of the request. */
  'x-opaque'?: boolean;
  'x-collection'?: string;
  'x-grid'?: boolean;
  'x-external'?: boolean;
  /** The column changes without a write to the record. */
  'x-moving'?: boolean;
  'x-secret'?: boolean;
  /** A lead token alone reads such a column only where its own request has sent it. */
  'x-sensitive'?: 'personal' | 'money';
  /** Limited callers read and use such a column only where they see that part of the margin. */
  'x-side'?: MoneyVisibility;
  /** A lead token needs this permission to send the field, unless credentials are sent too. */
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
  /** Callers without the field permission may only lower the value that others have set. */
  'x-lowerable'?: boolean;
  /** On the schema of error codes: their status, cause and cure. */
  'x-codes'?: Record<string, { status: number; cause: string; cure: string }>;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  /** Used by the server when the parameter is omitted. */
  'x-default'?: unknown;
  /** The names of the parameters that it stands for. */
  'x-set'?: string[];
  'x-other-names'?: string[];
  /** The success answer by parameter value, for the values that change it. */
  'x-answers'?: Record<string, OtherAnswer>;
  /** Equals `x-side` of the column that the parameter filters by. */
  'x-side'?: MoneyVisibility;
  /** `x-side` by parameter value. */
  'x-side-by'?: Record<string, MoneyVisibility>;
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
  responses: Record<
    string,
    { content?: Record<string, unknown>; headers?: Record<string, { $ref: string }>; $ref?: string }
  >;
  security?: Record<string, unknown>[];
  callbacks?: Record<string, Record<string, { post: { requestBody: { content: Content } } }>>;
  'x-scope'?: string;
  'x-power'?: LeadTokenPower;
  'x-effect'?: boolean;
  'x-unlogged'?: boolean;
  'x-unlimited'?: boolean;
  /** Changes data of the whole company, for which limited callers need a permission. */
  'x-company-wide'?: boolean;
  /**
   * Names of the parameter and fields with records that others may use too. A limited caller needs
   * `company_wide:update` where the record is not the caller's alone.
   */
  'x-shared'?: string[];
  /** The record it writes acts later, within the access scope of the user who wrote it. */
  'x-acts-later'?: boolean;
  'x-own-transactions'?: boolean;
  /** Decides where a call goes: database connections are reserved for it. */
  'x-routes'?: boolean;
  /** Only these fields can refuse a request: other wrong fields become warnings. */
  'x-lenient'?: string[];
  'x-own-number'?: string;
  /** The record that its path names need not exist: it is never answered by 404. */
  'x-always-found'?: boolean;
  /** How it is authenticated, where no security scheme can express it. */
  'x-credentials'?: CredentialKind;
  /** The fields that the query string may have, instead of the body or along with it. */
  'x-fields'?: Schema;
}

/**
 * How a request is authenticated: by credentials of the company, by the token of an offer or a
 * schedule, of an inbound webhook, an invitation or a confirmation, or by the signature of a
 * carrier.
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

/** An operation as openapi.yaml has it, with its place. */
export interface PlacedOperation {
  path: string;
  method: Method;
  item: PathItem;
  operation: RawOperation;
}

export const listPlacedOperations = (paths: ContractDocument['paths']): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, item, operation }] : [];
    }),
  );

/** The name of the component that a reference is to. */
export const readRefName = ($ref: string): string => $ref.split('/').at(-1)!;

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
