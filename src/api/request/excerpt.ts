import { METHODS, type ContractDocument } from '../../platform/contract/contract';

type Components = Record<string, Record<string, unknown>>;
type Paths = ContractDocument['paths'];

/** The first segment of a path of the contract: /buyers/{id} belongs to buyers. */
export const readResourceName = (path: string): string => path.split('/')[1]!;

/**
 * The part of a contract that requests of one resource are validated by. For each operation and
 * media type the validator walks through its whole document and keeps what it finds: with a
 * document for each resource that takes a third of the time and a fraction of the memory.
 */
export function buildExcerpt(document: ContractDocument, resource: string): ContractDocument {
  const paths: Paths = {};
  for (const [path, item] of Object.entries(document.paths)) {
    if (readResourceName(path) === resource) paths[path] = withoutResponses(item);
  }
  const { securitySchemes } = document.components;
  const none = { schemas: {}, parameters: {}, responses: {}, examples: {} };
  const components = { ...none, ...componentsUsedBy(document, paths), securitySchemes };
  return structuredClone({ ...document, webhooks: {}, paths, components });
}

function withoutResponses(item: Paths[string]): Paths[string] {
  const copy = { ...item };
  for (const method of METHODS) {
    const operation = copy[method];
    if (operation) copy[method] = { ...operation, responses: {} };
  }
  return copy;
}

/** The components that a node refers to, directly or through others. */
export function componentsUsedBy(
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
