import { execFileSync, spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { EXAMPLES } from '../../../src/main/cli/examples';
import { findCommand, createProgram } from '../../../src/main/cli/program';
import { completionFor } from '../../../src/main/cli/completion';
import { runScript } from '../../support/process';

// The program as a whole: its help, its exit codes and its completion.

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
])('%j ends with %i', (args, code, printed) => {
  const ended = runScript('src/main/cli/index.ts', args, {});
  expect(ended.code).toBe(code);
  expect(ended.output + ended.errors).toMatch(printed);
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
