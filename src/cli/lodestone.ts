import { Command, CommanderError } from 'commander'
import { USAGE } from '../config/faults.ts'
import { RELEASE } from '../config/release.ts'
import { Fault, faultText, isFault, systemErrorText } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'
import { printError } from './print.ts'

/** The commands in the order of the help. A process loads only the one that it runs: others have large dependencies. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).initCommand(),
  serve: async () => (await import('./serve.ts')).serveCommand(),
  publish: async () => (await import('./publish.ts')).publishCommand(),
  unpublish: async () => (await import('./publish.ts')).unpublishCommand(),
  versions: async () => (await import('./versions.ts')).versionsCommand(),
  rollback: async () => (await import('./versions.ts')).rollbackCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  query: async () => (await import('./query.ts')).queryCommand(),
  map: async () => (await import('./map.ts')).mapCommand(),
  mapping: async () => (await import('./mapping.ts')).mappingCommand(),
  harvest: async () => (await import('./harvest.ts')).harvestCommand(),
  user: async () => (await import('./user.ts')).userCommand(),
  key: async () => (await import('./accounts.ts')).keyCommand(),
  app: async () => (await import('./accounts.ts')).appCommand(),
  audit: async () => (await import('./accounts.ts')).auditCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./backup.ts')).restoreCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(() => program()),
}

/**
 * The command line with all its commands; the reference documentation is checked against it.
 *
 * @param only name of the one command to load; if there is none of that name, all are loaded
 */
export async function program(only?: string): Promise<Command> {
  const lodestone = new Command('lodestone')
    .description('An open-data portal whose records live in a triple store')
    .version(RELEASE)
    .showHelpAfterError('(add --help for the options)')
    .exitOverride()
  if (only === '--version' || only === '-V') return lodestone
  const one = only === undefined ? undefined : lookup(COMMANDS, only)
  for (const load of one === undefined ? Object.values(COMMANDS) : [one])
    lodestone.addCommand((await load()).exitOverride())
  return lodestone
}

/**
 * Runs one command line and returns the exit code: 0, 1 for a failure, 2 for an invalid command line.
 *
 * @param args arguments without the program itself
 */
export async function run(args: readonly string[]): Promise<number> {
  const isServer = args[0] === 'serve'
  closeQuietly(process.stdout, isServer)
  closeQuietly(process.stderr, isServer)
  try {
    process.exitCode = undefined
    const lodestone = await program(args[0])
    await lodestone.parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (error instanceof Fault) {
      printError(`lodestone: ${faultText(error)}\n`)
      return isFault(error, USAGE) ? 2 : 1
    }
    printError(`lodestone: ${systemErrorText(error) ?? (error as Error).stack ?? String(error)}\n`)
    return 1
  }
}

/** Streams whose failures are handled. */
const quiet = new WeakSet<NodeJS.WriteStream>()

/**
 * Lets a command finish its work if its output is no longer read, as in `lodestone config show | head -2`. Any other failure of a
 * stream ends the process, but not a server: what a full disk does not take of its log is lost.
 */
function closeQuietly(stream: NodeJS.WriteStream, isServer: boolean): void {
  if (quiet.has(stream)) return
  quiet.add(stream)
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isServer) return
    if (stream !== process.stderr) printError(`lodestone: output cannot be written: ${error.message}\n`)
    process.exit(1)
  })
}
