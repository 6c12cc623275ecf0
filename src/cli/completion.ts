import { Argument, Command, type Option } from 'commander'
import { printDocument, shellQuoted } from './print.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof SHELLS)[number]

/** A command with its options and subcommands, for shell completion. */
interface Entry {
  readonly path: readonly string[]
  readonly description: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly {
    readonly name: string
    readonly description: string
    readonly takesValue: boolean
  }[]
}

/** `lodestone completion`: prints a script for shell completion of commands and options. @param program the whole command line */
export function completionCommand(program: () => Promise<Command>): Command {
  return new Command('completion')
    .description('print the completion of a shell, such as: source <(lodestone completion bash)')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      printDocument(scriptOf(shell, entriesOf(await program(), [])))
    })
}

function entriesOf(command: Command, path: readonly string[]): readonly Entry[] {
  const commands = command.commands.map(it => ({ name: it.name(), description: it.description() }))
  const options = command.options.flatMap(optionNames)
  const entry = { path, description: command.description(), commands, options }
  return [entry, ...command.commands.flatMap(it => entriesOf(it, [...path, it.name()]))]
}

function optionNames({ long, description, required, optional }: Option) {
  return typeof long === 'string' ? [{ name: long, description, takesValue: required || optional }] : []
}

function scriptOf(shell: Shell, entries: readonly Entry[]): string {
  switch (shell) {
    case 'bash':
      return bash(entries)
    case 'zsh':
      return `#compdef lodestone\nautoload -U +X bashcompinit && bashcompinit\n${bash(entries)}`
    case 'fish':
      return fish(entries)
  }
}

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(({ path, commands, options }) => {
    const words = [...commands.map(({ name }) => name), ...options.map(({ name }) => name), '--help']
    return `    ${shellQuoted(path.join(' '))}) words=${shellQuoted(words.join(' '))} ;;`
  })
  const paths = entries.filter(({ path }) => path.length > 0).map(({ path }) => shellQuoted(path.join(' ')))
  return `_lodestone() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ "$current" == -* || \${#COMPREPLY[@]} -gt 0 && -z "\${current}" ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o filenames -F _lodestone lodestone
`
}

function fish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, commands, options }) => {
    const here =
      path.length === 0
        ? '__fish_use_subcommand'
        : path.map(name => `__fish_seen_subcommand_from ${name}`).join('; and ')
    const condition = `-n ${shellQuoted(here)}`
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c lodestone ${condition} -a ${name} -d ${shellQuoted(description)}`,
      ),
      ...options.map(
        ({ name, description, takesValue }) =>
          `complete -c lodestone ${condition} -l ${name.slice(2)} ${takesValue ? '-r ' : ''}-d ${shellQuoted(description)}`,
      ),
    ]
  })
  return `${lines.join('\n')}\n`
}
