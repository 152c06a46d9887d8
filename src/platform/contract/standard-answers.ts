import {
  listPlacedOperations,
  type ContractDocument,
  type RawOperation,
} from './contract-document';
import { toPlural } from './envelopes';

// The answers of the operations that every noun has: `listBuyers`, `newBuyer`, `showBuyer`,
// `createBuyer`, `updateBuyer`, `deleteBuyer`. openapi.yaml has those that differ from what stands here.

interface StandardAnswer {
  status: '200' | '201';
  description: string;
  /** Follows the name of the noun in that of the schema. */
  envelope: 'Page' | 'Reply';
}

const STANDARD_ANSWERS: Record<string, StandardAnswer> = {
  list: { status: '200', description: 'A page of records.', envelope: 'Page' },
  show: { status: '200', description: 'The record.', envelope: 'Reply' },
  create: { status: '201', description: 'The record as created.', envelope: 'Reply' },
  update: { status: '200', description: 'The record as changed.', envelope: 'Reply' },
  new: {
    status: '200',
    description: 'A record that is not stored, with every default in place.',
    envelope: 'Reply',
  },
  delete: { status: '200', description: 'The record as deleted.', envelope: 'Reply' },
};

/** Adds the answer to operations that state none. Throws where no rule has one for them. */
export function addStandardAnswers({ components, paths }: ContractDocument): void {
  const nounsByPlural = new Map(
    Object.keys(components.schemas).map((name) => [toPlural(name), name]),
  );
  for (const { operation } of listPlacedOperations(paths)) {
    if (listAnswers(operation).length > 0) continue;
    const { operationId } = operation;
    const [, verb, name] = /^([a-z]+)([A-Z]\w*)$/.exec(operationId) ?? [];
    const answer = STANDARD_ANSWERS[verb ?? ''];
    const noun = verb === 'list' ? nounsByPlural.get(name!) : name;
    if (!answer || !noun) throw new Error(`openapi.yaml: ${operationId} has no answer`);
    operation.responses = {
      [answer.status]: toResponse(answer, noun),
      ...operation.responses,
    };
  }
}

const listAnswers = ({ responses = {} }: Partial<RawOperation>): string[] =>
  Object.keys(responses).filter((status) => /^[123]/.test(status));

const toResponse = ({ description, envelope }: StandardAnswer, noun: string) => ({
  description,
  content: {
    'application/json': { schema: { $ref: `#/components/schemas/${noun}${envelope}` } },
  },
});
