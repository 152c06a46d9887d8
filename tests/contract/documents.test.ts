import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract, facets } from '../../src/platform/contract/contract';
import { REASONS } from '../../src/domain/routing/engine/reasons';

// Where a document lists the values of a closed list, none is missing and none is made up.

const ROOT = join(__dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const { schemas } = contract.document.components;
const listValues = (name: string) => (schemas[name]!.enum as (string | null)[]).filter(Boolean);

/** The names in backticks that stand in the first column of the table with this heading. */
function readFirstColumn(file: string, heading: string): string[] {
  const [, table] = new RegExp(`^\\| ${heading} .*\\n\\|[ -|:]+\\n((?:\\|.*\\n)+)`, 'm').exec(
    read(file),
  )!;
  const cells = table!
    .trim()
    .split('\n')
    .map((line) => line.split('|')[1]!);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

test('every reason for passing over a buyer is explained, in the order in which they count', () => {
  expect(readFirstColumn('docs/routing.md', 'reason ')).toEqual(listValues('SkipReason'));
  expect([...REASONS]).toEqual(listValues('SkipReason'));
});

const listPropertyValues = (schema: string, name: string) => [
  ...facets(schemas[schema]!.properties![name]!).words.values(),
];

test.each([
  ['docs/routing.md', 'status ', () => listValues('PingStatus')],
  ['docs/routing.md', 'answer', () => listPropertyValues('CallInstruction', 'action')],
  ['docs/routing.md', '`route_by_type`', () => listValues('RouteByType')],
  ['docs/leads.md', 'status ', () => listValues('LeadStatus')],
  ['docs/leads.md', 'action ', () => listValues('ActionType')],
  ['docs/leads.md', '`blocked_by`', () => listPropertyValues('TimelineStep', 'blocked_by')],
  ['docs/webhooks.md', '`trigger_type`', () => listValues('WebhookTriggerType')],
])('%s explains every value of its table "%s"', (file, heading, values) => {
  expect(readFirstColumn(file, heading).toSorted()).toEqual(values().toSorted());
});

test('every variable of the configuration is explained, with its default', () => {
  const declared = [...read('.env.example').matchAll(/^([A-Z\d_]+)='?(.*?)'?$/gm)];
  const names = declared.map(([, name]) => name!);
  expect(readFirstColumn('docs/configure.md', 'variable').toSorted()).toEqual(names.toSorted());
  for (const [, name, value] of declared.filter(([, , value]) => value)) {
    const row = new RegExp(`^\\| [^|]*\`${name}\`.*$`, 'm').exec(read('docs/configure.md'))![0];
    expect(row.split('|')[2]).toContain(`\`${value}\``);
  }
});

test('every command of the terminal is explained', () => {
  const source = readdirSync(join(ROOT, 'src/main/cli'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`src/main/cli/${name}`))
    .join('\n');
  const declared = [...source.matchAll(/^\s*(\w+)?\s*\.command\('([\w-]+)'\)/gm)];
  const shown = readFirstColumn('docs/monitor.md', 'command').join(' ');
  expect(declared.length).toBeGreaterThan(5);
  for (const [, , name] of declared) expect(shown).toContain(name);
});

test('the README and CONTRIBUTING stay short, and the README says how to start and test', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151);
  expect(read('.github/CONTRIBUTING.md').split('\n').length).toBeLessThanOrEqual(101);
  expect(read('README.md')).toMatch(/^npm ci && npm start[\s\S]*^npm ci && npm test/m);
});
