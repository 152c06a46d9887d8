import { Argument, type Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'];

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description(
      'print what makes a shell complete commands and options; for example, in ~/.bashrc: ' +
        'source <(trunkline completion bash)',
    )
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: string) => void process.stdout.write(completionFor(shell, program)));
}

/** A script for a shell, with all words in it: completing does not start the program. */
export function completionFor(shell: string, program: Command): string {
  const words = collectWords(program);
  if (shell === 'fish') return fish(words);
  return shell === 'zsh'
    ? `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`
    : bash(words);
}

/** The words that may follow each command path: its subcommands and options. */
type Words = ReadonlyMap<string, readonly string[]>;

function collectWords(command: Command, path = ''): Words {
  const visible = command.createHelp();
  const below = visible.visibleCommands(command).filter((child) => child.name() !== 'help');
  const options = visible.visibleOptions(command).flatMap(({ long }) => long ?? []);
  const entry: [string, string[]] = [path, [...below.map((child) => child.name()), ...options]];
  return new Map([
    entry,
    ...below.flatMap((child) => [...collectWords(child, `${path} ${child.name()}`.trim())]),
  ]);
}

const bash = (words: Words): string => `_trunkline() {
  local word path="" candidates=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${[...words].map(([path, list]) => `      "${path}") candidates="${list.join(' ')}"; break ;;`).join('\n')}
    esac
    # What is not a command is an argument of the one before it.
    case "$path" in *" "*) path="\${path% *}" ;; *) path="" ;; esac
  done
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _trunkline trunkline
`;

const fish = (words: Words): string =>
  [...words]
    .flatMap(([path, list]) => {
      const conditions = path.split(' ').map((name) => `__fish_seen_subcommand_from ${name}`);
      const here = path === '' ? '__fish_use_subcommand' : conditions.join('; and ');
      return list.map((word) =>
        word.startsWith('--')
          ? `complete -c trunkline -n '${here}' -l ${word.slice(2)}`
          : `complete -c trunkline -f -n '${here}' -a ${word}`,
      );
    })
    .join('\n')
    .concat('\n');
