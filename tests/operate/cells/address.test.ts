import { buildNodeUrl, withSettings } from '../../../src/operate/cells/address';
import { listNodeSchemas } from '../../../src/operate/cells/on-node';

// Sessions at the coordinator and at the nodes of a cluster.

const COORDINATOR = 'postgresql://user:p%40ss@coordinator:5432/trunkline?sslmode=require';

test('a node has the same database, user and parameters', () => {
  expect(buildNodeUrl(COORDINATOR, { groupid: 2, host: 'node-2', port: 6432 })).toBe(
    'postgresql://user:p%40ss@node-2:6432/trunkline?sslmode=require',
  );
});

test('a node may be named by an IPv6 address', () => {
  const url = buildNodeUrl(COORDINATOR, { groupid: 2, host: 'fd00::2', port: 5432 });
  expect(new URL(url).hostname).toBe('[fd00::2]');
});

test('settings are added to those that the URL has', () => {
  const url = withSettings(withSettings(COORDINATOR, { timezone: 'UTC' }), { search_path: 'a,b' });
  expect(new URL(url).searchParams.get('options')).toBe('-c timezone=UTC -c search_path=a,b');
});

test('names are looked up in the views of a cell first, and never in public', () => {
  expect(listNodeSchemas('cell_3')).toEqual(['cell_3_local', 'cell_3_ids', 'cell_3', 'extensions']);
});
