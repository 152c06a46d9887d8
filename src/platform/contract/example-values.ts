import { readRefName, type ContractDocument, type Schema } from './contract-document';

// Examples are written at properties, each once. A value of a schema is composed from them: a
// property without one has that of the nearest property before it of the same name and type.

type Json = unknown;
type Properties = Record<string, Schema>;
type Schemas = Record<string, Schema>;

const FORMATS: Record<string, string> = {
  'date-time': '2026-06-01T16:30:00.000+00:00',
  date: '2026-06-01',
  uuid: '01a2033d-5ca6-749a-9274-db69190761d7',
  email: 'ann@example.com',
};

const isId = (name: string): boolean => name === 'id' || name.endsWith('_id');

function resolve(schemas: Schemas, schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const { $ref, ...siblings } = schema;
  return { ...resolve(schemas, schemas[readRefName($ref)]!), ...siblings };
}

function readType(schemas: Schemas, schema: Schema): string | undefined {
  const { type } = resolve(schemas, schema);
  return [type ?? []].flat().find((name) => name !== 'null');
}

/** Where a value stands. */
interface Site {
  /** The property. */
  name: string;
  /** The index of the component among all components. */
  position: number;
  /** The components that are being composed. */
  within: readonly string[];
}

export class Composer {
  private readonly schemas: Schemas;
  private readonly shared: SharedExamples;
  private readonly positions: Map<string, number>;
  private readonly composed = new Map<string, Json>();

  /** `paths`: where a record of a component schema is shown. */
  constructor(
    { components }: ContractDocument,
    private readonly paths: ReadonlyMap<string, string>,
  ) {
    this.schemas = components.schemas;
    this.shared = new SharedExamples(this.schemas);
    this.positions = new Map(Object.keys(this.schemas).map((name, index) => [name, index]));
  }

  /** A value of a component schema. */
  compose(name: string): Json {
    return structuredClone(this.composeComponent(name, { name: '', position: 0, within: [] }));
  }

  /** The fields that a request needs; one that needs none has its name, or its first field. */
  composeRequest(name: string): Record<string, Json> {
    const schema = this.schemas[name]!;
    const properties = this.collectProperties(schema);
    const required = this.collectRequired(schema);
    const first = 'name' in properties ? 'name' : Object.keys(properties)[0]!;
    const shown = required.length > 0 ? required : [first];
    const chosen = Object.fromEntries(shown.map((field) => [field, properties[field]!]));
    return this.composeObject(chosen, {
      name: '',
      position: this.positions.get(name)!,
      within: [name],
    });
  }

  private collectProperties(schema: Schema): Properties {
    const parts = (schema.allOf ?? []).map((part) =>
      this.collectProperties(resolve(this.schemas, part)),
    );
    return Object.assign({}, ...parts, schema.properties) as Properties;
  }

  private collectRequired(schema: Schema): string[] {
    const parts = schema.allOf ?? [];
    return [
      ...parts.flatMap((part) => this.collectRequired(resolve(this.schemas, part))),
      ...(schema.required ?? []),
    ];
  }

  private composeComponent(component: string, { name, position, within }: Site): Json {
    if (within.includes(component)) return undefined;
    const schema = this.schemas[component]!;
    const site = { name, position, within: [...within, component] };
    if (Object.keys(this.collectProperties(schema)).length === 0)
      return this.composeValue(schema, site);
    if (!this.composed.has(component)) {
      const position = this.positions.get(component)!;
      this.composed.set(component, this.composeValue(schema, { ...site, position }));
    }
    return this.composed.get(component);
  }

  private composeValue(schema: Schema, site: Site): Json {
    if (schema.examples) return schema.examples[0];
    if (schema['x-const'] !== undefined) return schema['x-const'];
    if (schema.$ref) return this.composeComponent(readRefName(schema.$ref), site);
    const [choice] = schema.oneOf ?? schema.anyOf ?? [];
    if (choice) return this.composeValue(choice, site);
    const words = schema.enum?.filter((word) => word !== null && word !== '') ?? [];
    if (words.length > 0) return this.pickWord(words, site);
    const properties = this.collectProperties(schema);
    if (Object.keys(properties).length > 0) return this.composeObject(properties, site);
    return schema.items ? this.composeArray(schema.items, site) : this.composeScalar(schema, site);
  }

  private pickWord(words: readonly unknown[], site: Site): Json {
    const example = this.shared.find(typeof words[0], site);
    return words.includes(example) ? example : words[0];
  }

  private composeObject(properties: Properties, site: Site): Record<string, Json> {
    const path = this.paths.get(site.within.at(-1)!);
    const entries = Object.entries(properties).flatMap(([name, property]): [string, Json][] => {
      if (property['x-grid'] || property.examples?.length === 0) return [];
      if (path && /^routes_(show|edit)_path$/.test(name)) return [[name, path]];
      const value = this.composeValue(property, { ...site, name });
      return value === undefined ? [] : [[name, value]];
    });
    return Object.fromEntries(entries);
  }

  private composeArray(items: Schema, site: Site): Json {
    const properties = this.collectProperties(resolve(this.schemas, items));
    const isList = Object.keys(properties).length === 0;
    const example = isList ? this.shared.find('array', site) : undefined;
    if (example !== undefined) return example;
    // Ids have the examples of ids.
    const item = this.composeValue(items, { ...site, name: site.name.replace(/_ids$/, '_id') });
    return item === undefined ? [] : [item];
  }

  private composeScalar(schema: Schema, site: Site): Json {
    const type = readType(this.schemas, schema);
    const example = this.shared.find(type, site);
    if (example !== undefined) return example;
    const { format = '' } = schema;
    if (FORMATS[format]) return FORMATS[format];
    if ('x-default' in schema) return schema['x-default'];
    if (type === 'boolean') return false;
    if (isId(site.name)) return type === 'string' ? '1' : 1;
    if ([schema.type].flat().includes('null')) return null;
    if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
    return type === 'string' ? undefined : {};
  }
}

interface PropertyExample {
  type: string | undefined;
  position: number;
  value: Json;
}

/** The examples of all properties, by their names, in the order of the contract. */
class SharedExamples {
  private readonly byName = new Map<string, PropertyExample[]>();

  constructor(private readonly schemas: Schemas) {
    Object.values(schemas).forEach((schema, position) => this.collect(schema, position));
  }

  find(type: string | undefined, { name, position }: Site): Json {
    const examples = (this.byName.get(name) ?? []).filter((example) => example.type === type);
    const before = examples.filter((example) => example.position <= position).at(-1);
    return (before ?? examples[0])?.value;
  }

  private collect(schema: Schema, position: number): void {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const value = property.examples ? property.examples[0] : property['x-default'];
      if (value !== undefined && value !== null) {
        const examples = this.byName.get(name) ?? [];
        this.byName.set(name, examples);
        examples.push({ type: readType(this.schemas, property), position, value });
      }
      this.collect(property, position);
    }
    for (const part of [...(schema.allOf ?? []), ...(schema.oneOf ?? [])])
      this.collect(part, position);
    if (schema.items) this.collect(schema.items, position);
  }
}
