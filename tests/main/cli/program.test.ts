import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXAMPLES, findCommand, createProgram } from '../../../src/main/cli/program';
import { completionFor } from '../../../src/main/cli/completion';
import { runCommand } from '../../support/cli';

// The program as a whole: its help, its exit codes and its completion.

const ROOT = join(__dirname, '../../..');

const listPaths = (command: Command, path: string[] = []): string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((child) => listPaths(child, [...path, child.name()]));

test.each(listPaths(createProgram()))(
  '%s has a description, and an example that works',
  async (path) => {
    const program = createProgram();
    const command = findCommand(program, path);
    expect(command.description()).toMatch(/^[a-z]/);
    const example = EXAMPLES[path]!;
    expect(example.startsWith(path)).toBe(true);
    let called = 0;
    command.exitOverride().action(() => void called++);
    const words = example.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''));
    await program.parseAsync(words, { from: 'user' });
    expect(called).toBe(1);
  },
);

test.each([
  [['nonsense'], 2, /unknown command 'nonsense'/],
  [['backup'], 2, /missing required argument 'file'/],
  [['key', 'list', '--nonsense'], 2, /unknown option '--nonsense'/],
  [['restore', '/nowhere', '--help'], 0, /Example:\n {2}\$ npx trunkline restore /],
])('%j ends with %i', async (args, code, text) => {
  const printed = await runCommand(args, {});
  expect(printed.code).toBe(code);
  expect(printed.output + printed.errors).toMatch(text);
});

test('every command that a message names works in production', async () => {
  const messages = (at: string): string[] =>
    readdirSync(join(ROOT, at), { withFileTypes: true }).flatMap((entry) => {
      const path = `${at}/${entry.name}`;
      if (entry.isDirectory()) return path === 'src/generated' ? [] : messages(path);
      const code = readFileSync(join(ROOT, path), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
      return [...code.matchAll(/(?:npm (?:run )?|npx )[^\n'"`]*/g)].map(([text]) => text);
    });
  const namedCommands = messages('src');
  expect(namedCommands.length).toBeGreaterThan(5);
  for (const text of namedCommands)
    expect(text).toMatch(/^(npm start$|npm run worker|npx trunkline )/);
  const commands = namedCommands
    // Commands of the examples are checked above.
    .filter((text) => text.startsWith('npx') && !text.includes('${'))
    .map((text) => {
      const [, ...words] = /^npx trunkline ([a-z-]+)(?: ([a-z]+))?(?: --|$)/.exec(
        text.replace(/ \(.*/, ''),
      )!;
      return words.filter(Boolean).join(' ');
    });
  for (const command of new Set(commands)) {
    const { code, output } = await runCommand([...command.split(' '), '--help'], {});
    expect([code, output]).toEqual([0, expect.stringContaining(`Usage: trunkline ${command} `)]);
  }
});

describe('completion', () => {
  const hasShell = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

  /** Completions that bash offers for the last word. */
  const offered = (...words: string[]): string[] => {
    const script = [
      completionFor('bash', createProgram()),
      `COMP_WORDS=(trunkline ${words.map((word) => `'${word}'`).join(' ')})`,
      `COMP_CWORD=${words.length}`,
      '_trunkline',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ];
    const printed = execFileSync('bash', ['-c', script.join('\n')], { cwd: __dirname });
    return printed.toString().trim().split('\n');
  };

  test('bash completes commands, their subcommands and their options', () => {
    expect(offered('ba')).toEqual(['backup']);
    expect(offered('key', '')).toEqual(expect.arrayContaining(['list', 'rotate', 'revoke']));
    expect(offered('key', 'rotate', 'pk_x', '--k')).toEqual(['--keep-hours']);
    expect(offered('restore', 'prog')).toEqual(['program.test.ts']);
  });

  test.each(['zsh', 'fish'])('%s accepts its script', (shell) => {
    const script = completionFor(shell, createProgram());
    expect(script).toContain(shell === 'fish' ? '-a rotate' : 'bashcompinit');
    if (hasShell(shell)) execFileSync(shell, ['-n'], { input: script });
  });
});
