import {
  countChosen,
  ROLES,
  setPermissions,
  toMatrix,
} from '../../src/console/client/editors/permissions';

const ALL = ['company:read', 'buyers:read', 'buyers:money', 'buyers:delete', 'company_wide:update'];

test('permissions make a row for each noun, with the usual verbs first', () => {
  const { verbs, rows } = toMatrix(ALL);
  expect(verbs).toEqual(['read', 'create', 'update', 'delete', 'money']);
  expect(rows.map(({ noun }) => noun)).toEqual(['company', 'buyers', 'company_wide']);
  expect(rows[1]!.scopes).toEqual({
    read: 'buyers:read',
    money: 'buyers:money',
    delete: 'buyers:delete',
  });
});

test('roles are limited to their work', () => {
  const of = (title: string) => ALL.filter(ROLES.find((role) => role.title === title)!.has);
  expect(of('Viewer')).toEqual(['company:read', 'buyers:read']);
  expect(of('Accountant')).toEqual(['company:read', 'buyers:read']);
  expect(of('Manager')).toEqual(['company:read', 'buyers:read', 'buyers:money', 'buyers:delete']);
});

test('ticks add and take away, in the order of the contract and without doubles', () => {
  const some = setPermissions(ALL, ['buyers:delete'], ['company:read', 'buyers:delete'], true);
  expect(some).toEqual(['company:read', 'buyers:delete']);
  expect(setPermissions(ALL, some, ['company:read'], false)).toEqual(['buyers:delete']);
  const row = Object.values(toMatrix(ALL).rows[1]!.scopes);
  expect([countChosen([], row), countChosen(some, row), countChosen(ALL, row)]).toEqual([
    'none',
    'some',
    'all',
  ]);
});
