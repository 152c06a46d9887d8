import { contract, facets, type Operation } from '../../src/contract';
import type { Api } from './world';

/** One record of each resource, and how each path parameter names it. */
export interface Fixture {
  ids: Record<string, number>;
  /** The contract's example of an operation's body, with the references it makes to records of this fixture. */
  body(operation: Operation): Record<string, unknown> | undefined;
  path(operation: Operation): string;
}

const exampleOf = (name: string): Record<string, unknown> => contract.document.components.examples[name]?.value as Record<string, unknown>;

/** The contract's own example of an operation's body. */
export function bodyOf(operation: Operation): Record<string, unknown> | undefined {
  const ref = operation.body?.$ref;
  return ref ? structuredClone(exampleOf(ref.split('/').at(-1)!)) : undefined;
}

/** The contract's own example of a body with a file. */
export function formOf(operation: Operation): Record<string, string | Buffer> {
  const { import_file, ...fields } = exampleOf(operation.multipart!.$ref!.split('/').at(-1)!) as Record<string, string> & { import_file: string };
  return { ...fields, import_file: Buffer.from(import_file) };
}

/** Single records that an example names are those of the fixture. */
function withReferences(operation: Operation, ids: Record<string, number>): Record<string, unknown> | undefined {
  const body = bodyOf(operation);
  const properties = operation.body ? facets(operation.body).properties : {};
  for (const [field, schema] of Object.entries(properties)) {
    const target = schema['x-reference'];
    if (body && target && typeof body[field] === 'number') body[field] = ids[target];
  }
  return body;
}

/** Makes one record of each resource by the contract's examples. */
export async function createFixture(api: Api): Promise<Fixture> {
  const ids: Record<string, number> = {};
  for (const operation of contract.operations.filter(({ method, path }) => method === 'post' && !path.includes('{'))) {
    const res = await api('post', operation.path, operation.multipart ? { form: formOf(operation) } : { body: withReferences(operation, ids) });
    const plural = operation.path.split('/').at(-1)!;
    ids[plural] = res.body[res.body.metadata.root].id;
  }
  const values = (operation: Operation): Record<string, string> => ({
    id: String(ids[operation.path.split('/')[3]!]),
    user_buyer_id: String(exampleOf('BuyerCreate').user_buyer_id),
    collection: 'route_by_type',
  });
  return {
    ids,
    body: (operation) => withReferences(operation, ids),
    path: (operation) => operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values(operation)[name] ?? '1'),
  };
}
