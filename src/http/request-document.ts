import { acceptedContent, METHODS, type ContractDocument, type Schema } from '../contract';

/**
 * The contract as requests are checked by: with the media types of x-also-accepts, with the query
 * string of x-fields as a body, and with x-format and x-values as the keywords they stand for.
 */
export function requestDocument(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  for (const item of Object.values(copy.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const content = acceptedContent(operation);
      const fields = operation['x-fields'];
      if (operation.requestBody) operation.requestBody.content = content;
      if (!fields) continue;
      operation.parameters = operation.parameters?.filter(
        (parameter) => resolved(copy, parameter).in !== 'query',
      );
      // A GET has all its fields in the query string.
      operation.requestBody ??= { content: { 'application/json': { schema: fields } } };
    }
  useKeywords(copy);
  return copy;
}

function resolved<T extends { $ref?: string }>(document: ContractDocument, node: T): T {
  if (!node.$ref) return node;
  return document.components.parameters[node.$ref.split('/').at(-1)!] as unknown as T;
}

function useKeywords(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Schema;
  if (schema['x-format'] !== undefined) schema.format = schema['x-format'];
  if (schema['x-values'] !== undefined) schema.additionalProperties = schema['x-values'];
  Object.values(node).forEach(useKeywords);
}
