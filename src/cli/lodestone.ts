import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { faultText } from '../document.ts'
import { Fault } from '../errors.ts'
import { checkCommand } from './check.ts'
import { explainCommand } from './explain.ts'
import { importCommand } from './import.ts'
import { mapCommand } from './map.ts'
import { mappingCommand } from './mapping.ts'
import { publishCommand } from './publish.ts'
import { queryCommand } from './query.ts'
import { serveCommand } from './serve.ts'
import { unpublishCommand } from './unpublish.ts'

/** The command line with all its commands; also what the reference of the documentation is checked against. */
export function program(): Command {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  const lodestone = new Command('lodestone')
    .description('An open-data portal whose records live in a triple store')
    .version(version)
    .showHelpAfterError('(add --help for the options)')
    .exitOverride()
  const commands = [
    serveCommand(),
    publishCommand(),
    unpublishCommand(),
    importCommand(),
    checkCommand(),
    explainCommand(),
    queryCommand(),
    mapCommand(),
    mappingCommand(),
  ]
  for (const command of commands) lodestone.addCommand(command.exitOverride())
  return lodestone
}

/**
 * Runs one command line and gives the exit code: 0, 1 for a failure, 2 for a command line that cannot be understood.
 *
 * @param args arguments without the program itself
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    process.exitCode = undefined
    await program().parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (error instanceof Fault) {
      process.stderr.write(`lodestone: ${faultText(error)}\n`)
      return error.code === 'Usage' ? 2 : 1
    }
    process.stderr.write(`lodestone: ${(error as Error).stack ?? String(error)}\n`)
    return 1
  }
}
