import { contract, type Parameter, type Schema } from '../../contract';
import { OPERATIONS, ORDERED_TAGS, type ListedOperation, type PageOperation } from './tags';

/** The index that the search of the pages reads (assets/docs/search.js). */
export interface SearchIndex {
  /** Name and description of parameters and fields; operations refer to them by position. */
  fields: [name: string, description: string][];
  operations: {
    id: string;
    method: string;
    path: string;
    summary: string;
    description: string;
    tag: string;
    title: string;
    anchor: string;
    fields: number[];
  }[];
}

type Found = Map<string, string>;

function collect(schema: Schema | undefined, found: Found, seen: Set<string>): void {
  if (!schema || typeof schema !== 'object') return;
  if (schema.$ref) {
    if (seen.has(schema.$ref)) return;
    seen.add(schema.$ref);
  }
  const plain = contract.resolve(schema);
  for (const [name, property] of Object.entries(plain.properties ?? {})) {
    const description = property.description ?? contract.resolve(property).description ?? '';
    found.set(name, found.get(name) || description);
    collect(property, found, seen);
  }
  collect(plain.items, found, seen);
  if (typeof plain.additionalProperties === 'object')
    collect(plain.additionalProperties, found, seen);
  const parts = [...(plain.allOf ?? []), ...(plain.oneOf ?? []), ...(plain.anyOf ?? [])];
  for (const part of parts) collect(part, found, seen);
}

interface Body {
  $ref?: string;
  content?: Record<string, { schema?: Schema }>;
}
type Described = PageOperation & {
  parameters?: (Parameter & { description?: string })[];
  requestBody?: Body;
  responses: Record<string, Body>;
};

function fieldsOf({ operation }: ListedOperation): Found {
  const { parameters = [], requestBody, responses } = operation as Described;
  const found: Found = new Map();
  const seen = new Set<string>();
  for (const parameter of parameters) {
    const { name, description = '', schema } = contract.resolve(parameter);
    found.set(name, description);
    collect(schema, found, seen);
  }
  const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  for (const body of [requestBody, ...success.map(([, response]) => response)]) {
    for (const { schema } of Object.values(body ? (contract.resolve(body).content ?? {}) : {}))
      collect(schema, found, seen);
  }
  return found;
}

export function searchIndex(): SearchIndex {
  const fields: SearchIndex['fields'] = [];
  const positions = new Map<string, number>();
  const positionOf = (name: string, description: string): number => {
    const key = JSON.stringify([name, description]);
    const known = positions.get(key);
    if (known !== undefined) return known;
    positions.set(key, fields.length);
    return fields.push([name, description]) - 1;
  };
  const titles = new Map(ORDERED_TAGS.map(({ name, title }) => [name, title]));
  const place = new Map(ORDERED_TAGS.map(({ name }, at) => [name, at]));
  const ordered = [...OPERATIONS].sort(
    (a, b) => (place.get(a.operation.tags[0]!) ?? 0) - (place.get(b.operation.tags[0]!) ?? 0),
  );
  const operations = ordered.map((listed) => {
    const { id, method, path, anchor, operation, is_event } = listed;
    const tag = operation.tags[0]!;
    return {
      id,
      method: is_event ? 'event' : method,
      path,
      summary: operation.summary ?? id,
      description: operation.description ?? '',
      tag,
      title: titles.get(tag) ?? tag,
      anchor,
      fields: [...fieldsOf(listed)].map(([name, text]) => positionOf(name, text)),
    };
  });
  return { fields, operations };
}
