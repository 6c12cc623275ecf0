import { Command } from 'commander'
import { mappingCheckCommand } from './mapping/check.ts'
import { mappingExportCommand } from './mapping/export.ts'
import { mappingInitCommand } from './mapping/init.ts'
import { mappingPreviewCommand } from './mapping/preview.ts'

/** `lodestone mapping`: checks, previews, creates and exports the mappings of datasets. */
export function mappingCommand(): Command {
  const mapping = new Command('mapping').description(
    'check, preview, begin and export the mappings of datasets',
  )
  const commands = [
    mappingCheckCommand(),
    mappingPreviewCommand(),
    mappingInitCommand(),
    mappingExportCommand(),
  ]
  for (const command of commands) mapping.addCommand(command.exitOverride())
  return mapping
}
