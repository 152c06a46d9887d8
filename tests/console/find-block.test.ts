import { loadClientModule } from '../support/client-module';

type FindBlock = (logs: readonly object[], contact: object) => object | undefined;
const { findBlock } = loadClientModule<{ findBlock: FindBlock }>('views/find-block.ts');

const contact = { caller_id: '+12135550163', blocked_at: '2026-11-28T03:11:13.864+00:00' };
const entry = (changes: object) => ({
  operation: 'blockContacts',
  created_at: '2026-11-28T03:11:13.892+00:00',
  changes: { caller_ids: { from: null, to: ['(213) 555-0163'] } },
  user_email: 'ann@example.com',
  ...changes,
});

test('who blocked a caller is the entry of that moment which names the number', () => {
  const others = [
    entry({ operation: 'unblockContacts' }),
    entry({ created_at: '2026-11-28T03:21:13.892+00:00' }),
    entry({ changes: { caller_ids: { from: null, to: ['2135550164'] } } }),
    entry({ changes: {} }),
  ];
  expect(findBlock(others, contact)).toBeUndefined();
  expect(findBlock([...others, entry({})], contact)).toMatchObject({
    user_email: 'ann@example.com',
  });
});
