import { describeOperation, findHandlers, findOperations, findSimilar } from '../../scripts/where';
import { contract } from '../../src/platform/contract/contract';

// npm run where, by which a newcomer finds the code of a URL.

test('every operation has one line that handles it', () => {
  const handlers = findHandlers(contract.operations.map(({ id }) => id));
  const unclear = contract.operations.filter(({ id }) => handlers.get(id)?.length !== 1);
  expect(unclear.map(({ id }) => [id, handlers.get(id)])).toEqual([]);
});

test('a URL is understood as the contract, the documents or a client writes it', () => {
  for (const url of ['/buyers/{id}', '/api/v1/buyers/:id', 'buyers/5'])
    expect(findOperations(['PUT', url]).map(({ id }) => id)).toEqual(['updateBuyer']);
  expect(findOperations(['/buyers/new']).map(({ id }) => id)).toEqual(['newBuyer']);
  expect(findOperations(['GET', '/nothing'])).toEqual([]);
});

test('it names contract, handler and the tests that send such a request, the nearest first', () => {
  const [operation] = findOperations(['POST', '/webhook_logs/{id}/redeliver']);
  expect(describeOperation(operation!).split('\n')).toEqual([
    'POST /api/v1/webhook_logs/{id}/redeliver: redeliverWebhookLog',
    expect.stringMatching(/^ {2}contract {2}openapi\.yaml:\d+$/),
    expect.stringMatching(/^ {2}handler {3}src\/domain\/webhooks\/webhook-logs\.ts:\d+$/),
    expect.stringMatching(/^ {2}test {6}tests\/domain\/webhooks\/\S+\.test\.ts \(\d+ requests?\)$/),
    ...Array(2).fill(expect.stringMatching(/^ {2}test {6}tests\/\S+ \(\d+ requests?\)$/)),
  ]);
});

test('tests that have the operation in their title come first, and uploads count', () => {
  const listTests = (words: string[]) => describeOperation(findOperations(words)[0]!);
  expect(listTests(['POST', '/leads'])).toMatch(/submission-transitions\S+ \(by its title\)/);
  expect(listTests(['POST', '/leads'])).toMatch(/^ +and \d+ more$/m);
  expect(listTests(['POST', '/buyer_suppression_files'])).toMatch(
    /tests\/domain\/suppression\/files\.test\.ts/,
  );
});

test('for an operation that there is not, similar ones are named', () => {
  expect(findSimilar(['PATCH', '/numbers/{id}']).map(({ id }) => id)).toContain(
    'updatePhoneNumber',
  );
  expect(findSimilar(['xyz'])).toEqual([]);
});
