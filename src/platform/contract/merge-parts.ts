import {
  listPlacedOperations,
  readRefName,
  type ContractDocument,
  type Parameter,
  type Schema,
} from './contract-document';

// Parts of schemas (x-part) and sets of parameters (x-set) let openapi.yaml say once what many have
// in common. They are merged into what refers to them, since SDK generators would make types of
// them; after that they are gone.

type Schemas = Record<string, Schema>;

export function mergeParts({ components, paths }: ContractDocument): void {
  const [parts, schemas] = divide(components.schemas, (schema) => schema['x-part'] === true);
  const [sets, parameters] = divide(components.parameters, (parameter) => 'x-set' in parameter);
  for (const schema of [...Object.values(parts), ...Object.values(schemas)])
    mergeInto(schema, parts);
  for (const { operation } of listPlacedOperations(paths))
    operation.parameters &&= operation.parameters.flatMap((stated) => listMembers(stated, sets));
  Object.assign(components, { schemas, parameters });
}

type Named<T> = Record<string, T>;

/** Those that a test is true of, and the others. */
function divide<T>(all: Named<T>, isChosen: (value: T) => boolean): [Named<T>, Named<T>] {
  const select = (chosen: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => isChosen(value) === chosen));
  return [select(true), select(false)];
}

const listMembers = (stated: Parameter, sets: Named<Parameter>): Parameter[] => {
  const names = stated.$ref && sets[readRefName(stated.$ref)]?.['x-set'];
  return names
    ? names.map((name) => ({ $ref: `#/components/parameters/${name}` }) as Parameter)
    : [stated];
};

/** Merges parts into a schema and all within it. */
function mergeInto(schema: Schema, parts: Schemas): void {
  const part = schema.$ref ? parts[readRefName(schema.$ref)] : undefined;
  if (part) {
    const siblings = { ...schema };
    delete siblings.$ref;
    delete schema.$ref;
    Object.assign(schema, structuredClone(part), siblings);
    delete schema['x-part'];
  }
  for (const inner of Object.values(schema.properties ?? {})) mergeInto(inner, parts);
  for (const inner of [...(schema.allOf ?? []), ...(schema.oneOf ?? [])]) {
    const isPart = inner.$ref && parts[readRefName(inner.$ref)]?.properties;
    if (!isPart) mergeInto(inner, parts);
  }
  if (schema.items) mergeInto(schema.items, parts);
  const [first] = schema.allOf ?? [];
  const base = first?.$ref ? parts[readRefName(first.$ref)] : undefined;
  if (base?.properties) extend(schema, base);
}

/** Makes one closed object of a schema and the part that it extends. */
function extend(schema: Schema, base: Schema): void {
  const { properties = {}, required = [] } = schema;
  const { properties: shared = {}, required: sharedRequired = [] } = structuredClone(base);
  const names = Object.keys(properties).filter((name) => !(name in shared));
  // Where the part says so, its last properties stand behind those of the schema.
  const order = Object.keys(shared).flatMap((name) => (name === 'x-own' ? names : [name]));
  const ordered = 'x-own' in shared ? order : [...order, ...names];
  schema.type = 'object';
  schema.additionalProperties = false;
  schema.properties = Object.fromEntries(
    ordered.map((name) => [name, properties[name] ?? shared[name]!]),
  );
  const needed = new Set([...required, ...sharedRequired]);
  if (needed.size > 0) schema.required = ordered.filter((name) => needed.has(name));
  delete schema.allOf;
}
