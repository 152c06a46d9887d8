import { facets, type Operation, type Schema } from '../../platform/contract/contract';
import { withImportedIdentity } from '../../data/kept-identity';
import type { Db } from '../../data/db';
import { isObject } from '../request/read-value';

// Superusers may set the id, uuid and times of a new record (KeptIdentity in openapi.yaml).
// Handlers do not know of it.

interface IdentityFields {
  legacy_id?: number;
  uuid?: string;
  created_at?: string;
  updated_at?: string;
}

interface DbAndBody {
  db: Db;
  body: unknown;
}

/**
 * Removes the identity of a new record from the body; undefined without one. Its id may be as far
 * beyond those of other records as `reach`.
 */
export function takeImportedIdentity(
  operation: Operation,
  { db, body }: DbAndBody,
  reach: bigint | null,
): DbAndBody | undefined {
  const model = isObject(body) && hasIdentity(operation) ? readModelName(operation) : undefined;
  if (model === undefined) return undefined;
  const { legacy_id, uuid, created_at, updated_at, ...fields } = body as IdentityFields;
  const identity = {
    ...(legacy_id !== undefined && { id: BigInt(legacy_id) }),
    ...(uuid !== undefined && { uuid }),
    ...(created_at !== undefined && { created_at: new Date(created_at) }),
    ...(updated_at !== undefined && { updated_at: new Date(updated_at) }),
  };
  if (Object.keys(identity).length === 0) return undefined;
  const table = operation.path.split('/')[3]!;
  return { db: withImportedIdentity(db, { table, model, identity, reach }), body: fields };
}

/** The operation accepts an identity for the record that it creates. */
export const hasIdentity = ({ method, body }: Operation): boolean =>
  method === 'post' &&
  body !== undefined &&
  facets(body).properties.legacy_id?.['x-superuser'] === true;

/** The Prisma model that an operation creates: the name of the record in its reply. */
function readModelName({ responses, status }: Operation): string | undefined {
  const reply = responses[status]?.content?.['application/json'] as { schema: Schema } | undefined;
  const members = Object.entries(reply ? facets(reply.schema).properties : {});
  const [root] =
    members.find(([, schema]) => facets(schema).properties.legacy_id !== undefined) ?? [];
  return root?.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
