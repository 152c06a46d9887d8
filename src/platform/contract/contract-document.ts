import type { components, operations } from '../../generated/openapi';

// openapi.yaml as far as this project reads it. Its extensions (x-…) are explained in
// assets/docs/extensions.md.

export type OperationId = keyof operations;
export type Schemas = components['schemas'];
/** An action that a lead token permits without credentials of the company. */
export type LeadTokenPower = Schemas['LeadTokenPower'];

export type FieldPermission = 'money' | 'routing' | 'company';
/**
 * The part of a margin that a column shows: what buyers pay, what traffic sources are paid, or
 * both. `company`: costs and notes of the company, visible only to users who are not limited to
 * records of teams.
 */
export type MoneyVisibility = 'sale' | 'purchase' | 'both' | 'company';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  'x-enum-varnames'?: string[];
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
  'x-format'?: string;
  'x-default'?: unknown;
  'x-accepts'?: string[];
  'x-other-names'?: string[];
  'x-also-fields'?: Record<string, Schema>;
  'x-list'?: Schema;
  'x-values'?: Schema;
  'x-without-effect'?: boolean;
  'x-part'?: boolean;
  'x-const'?: unknown;
  'x-opaque'?: boolean;
  'x-collection'?: string;
  'x-open'?: boolean;
  'x-grid'?: boolean;
  'x-on-request'?: boolean;
  'x-external'?: boolean;
  'x-volatile'?: boolean;
  'x-secret'?: boolean;
  'x-sensitive'?: 'personal' | 'money';
  'x-money'?: MoneyVisibility;
  'x-lead-token-permission'?: LeadTokenPower;
  'x-reference'?: string;
  'x-reference-by'?: { field: string; tables: Record<string, string> };
  'x-field-permission'?: FieldPermission | FieldPermission[];
  'x-superuser'?: boolean;
  'x-lowerable'?: boolean;
  'x-buyer-reports'?: boolean;
  'x-codes'?: Record<string, { status: number; cause: string; cure: string }>;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  description?: string;
  style?: 'form';
  /** An object whose properties are parameters of their own. */
  explode?: boolean;
  examples?: Content[string]['examples'];
  'x-default'?: unknown;
  'x-set'?: string[];
  'x-other-names'?: string[];
  'x-answers'?: Record<string, OtherAnswer>;
  'x-money'?: MoneyVisibility;
  'x-money-by'?: Record<string, MoneyVisibility>;
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
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: {
    required?: boolean;
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
  'x-lead-token-permission'?: LeadTokenPower;
  'x-effect'?: boolean;
  'x-other-methods'?: Method[];
  'x-unlogged'?: boolean;
  'x-unlimited'?: boolean;
  'x-company-wide'?: boolean;
  'x-shared'?: string[];
  'x-acts-later'?: boolean;
  'x-own-transactions'?: boolean;
  'x-routes'?: boolean;
  'x-lenient'?: string[];
  'x-rows'?: string;
  'x-own-number'?: string;
  'x-by-lead-token'?: OperationId;
  'x-foreign-names'?: boolean;
  'x-always-found'?: boolean;
  'x-credentials'?: CredentialKind;
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
  security?: Record<string, unknown>[];
  tags: { name: string; description?: string }[];
  paths: Record<string, PathItem>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, { content?: Record<string, { examples?: Examples }> }>;
    examples: Examples;
    securitySchemes: object;
  };
}

type Components = Record<string, Record<string, unknown>>;

/** The components that a node refers to, directly or through others. */
export function collectComponents(
  { components }: Pick<ContractDocument, 'components'>,
  root: unknown,
): Components {
  const all = components as unknown as Components;
  const usedComponents: Components = {};
  const follow = (node: unknown): void => {
    const references = JSON.stringify(node).matchAll(/"#\/components\/(\w+)\/([^"/]+)"/g);
    for (const [, kind = '', name = ''] of references) {
      if (usedComponents[kind]?.[name] !== undefined) continue;
      const target = all[kind]![name];
      (usedComponents[kind] ??= {})[name] = target;
      follow(target);
    }
  };
  follow(root);
  return usedComponents;
}
