import type { ContractDocument } from '../../src/platform/contract/contract-document';

/**
 * Takes from the lists that the contract marks `x-open` the values that they have gained since the
 * release: its clients were written for values that they do not know.
 */
export function dropGained(document: ContractDocument, released: ContractDocument): void {
  const before = released.components?.schemas ?? {};
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
    if (schema['x-open'] && schema.enum)
      schema.enum = schema.enum.filter((value) => before[name]?.enum?.includes(value) ?? true);
}
