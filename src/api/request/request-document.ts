import {
  acceptedContent,
  contract,
  METHODS,
  type ContractDocument,
  type Schema,
} from '../../platform/contract/contract';

/**
 * The contract against which requests are checked: with the media types of x-also-accepts, with the
 * query string of x-fields as a body, and with other extensions as the keywords they stand for.
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
        (parameter) => contract.resolve(parameter).in !== 'query',
      );
      // A GET has all its fields in the query string.
      operation.requestBody ??= { content: { 'application/json': { schema: fields } } };
    }
  for (const parameter of Object.values(copy.components.parameters)) {
    const omitted = parameter['x-default'];
    if (omitted !== undefined) Object.assign(parameter.schema, { default: omitted });
  }
  useKeywords(copy);
  return copy;
}

function useKeywords(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Schema & { default?: unknown };
  const { 'x-format': format, 'x-values': values, 'x-also-fields': fields } = schema;
  if (format !== undefined) schema.format = format;
  if (values !== undefined) schema.additionalProperties = values;
  if (fields !== undefined) schema.properties = { ...fields, ...schema.properties };
  if (schema['x-accepts']?.includes('null')) allowNull(schema);
  // Only an id may still be a text: an object that was sent as pairs is an object by now.
  if (schema['x-accepts']?.includes('string') && [schema.type].flat().includes('integer'))
    schema.type = [schema.type ?? [], 'string'].flat();
  if (schema['x-list'] !== undefined) {
    delete schema.type;
    schema.$ref = schema['x-list'].$ref!;
  }
  Object.values(node).forEach(useKeywords);
}

function allowNull(schema: Schema): void {
  schema.type = [schema.type ?? [], 'null'].flat();
  if (schema.enum) schema.enum = [...schema.enum, null];
}
