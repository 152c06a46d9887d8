import { addExamples } from './complete-contract';
import {
  listPlacedOperations,
  type ContractDocument,
  type Parameter,
  type PlacedOperation,
  type Schema,
} from './contract-document';
import { acceptedContent, contract } from './contract';

// The contract with all that the server accepts, in plain OpenAPI: forms, and fields in the query
// string. For pages and tools that send requests; SDK generators would make several methods of it.

let accepted: ContractDocument | undefined;
export const acceptedDocument = (): ContractDocument =>
  (accepted ??= addAccepted(contract.document));

/** With the JSON types that are accepted too: pages leave them out, tools check by them. */
export const checkedDocument = (): ContractDocument =>
  acceptTypes(structuredClone(acceptedDocument()));

function acceptTypes<Node>(node: Node): Node {
  if (typeof node !== 'object' || node === null) return node;
  Object.values(node).forEach(acceptTypes);
  const schema = node as Schema;
  const { $ref, type, enum: values, 'x-accepts': accepts } = schema;
  if (!accepts) return node;
  if (type) schema.type = [type, accepts].flat();
  if (values && accepts.includes('null')) schema.enum = [...values, null];
  if ($ref) {
    delete schema.$ref;
    schema.anyOf = [{ $ref }, { type: accepts }];
  }
  return node;
}

function addAccepted(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  for (const placed of listPlacedOperations(copy.paths)) {
    const { operation } = placed;
    const { requestBody } = operation;
    const fields = findQueryFields(placed);
    if (fields) operation.parameters = [...(operation.parameters ?? []), fields];
    delete operation['x-fields'];
    if (!requestBody) continue;
    if (fields) requestBody.required = false;
    requestBody.content = acceptedContent(operation);
    delete requestBody['x-also-accepts'];
  }
  return addExamples(copy);
}

/** The fields that the query string may have, as one object whose properties are its parameters. */
function findQueryFields({ method, operation }: PlacedOperation): Parameter | undefined {
  const { requestBody, 'x-fields': fields } = operation;
  const schema = fields ?? (method === 'put' && requestBody?.content['application/json']?.schema);
  if (!schema) return undefined;
  return {
    name: 'fields',
    in: 'query',
    description: requestBody
      ? 'Fields of the body may be in the query string instead, each as a parameter of its name.'
      : 'The fields, each as a parameter of its name.',
    style: 'form',
    explode: true,
    schema,
  };
}
