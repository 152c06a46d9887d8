import { BASE_PATH, contract, facets, type Schema } from '../../platform/contract/contract';

export function recordColumns(resource: string): ReadonlySet<string> {
  const path = `${BASE_PATH}/${resource}/{id}`;
  const show = contract.operations.find(
    (operation) => operation.method === 'get' && operation.path === path,
  );
  if (!show) throw new Error(`no operation shows ${resource}`);
  const reply = show.responses[show.status]?.content?.['application/json'] as { schema: Schema };
  const record = Object.values(facets(reply.schema).properties).find(
    (schema) => facets(schema).properties.created_at !== undefined,
  );
  return new Set(Object.keys(record ? facets(record).properties : {}));
}
