import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { USAGE } from '../../config/faults.ts'
import { Fault } from '../../errors/errors.ts'
import { proposedMapping } from '../../publishing/mapping/mapping-edit.ts'
import { mappingFile } from '../../publishing/mapping/mapping-file.ts'
import { BASE_OPTION, PORTAL_OPTION, type PortalOptions } from '../options.ts'
import { printDocument, printError, printText } from '../print.ts'
import { configOf } from '../settings.ts'
import { datasetAtHand } from './dataset.ts'

interface InitOptions extends PortalOptions {
  readonly force?: boolean
  readonly stdout?: boolean
}

/** `lodestone mapping init`: generates a first mapping of a dataset from its fields, to be edited. */
export function mappingInitCommand(): Command {
  return new Command('init')
    .description('write a first mapping of a dataset from its fields, ready to edit')
    .argument('<dataset>', 'id of the dataset')
    .option('--force', 'take the place of a mapping that is there')
    .option('--stdout', 'print the mapping and write nothing')
    .option(...PORTAL_OPTION)
    .option(...BASE_OPTION)
    .action(async (id: string, options: InitOptions) => {
      const { portal, base } = configOf(options)
      const file = path.join(portal, 'mappings', `${id}.yml`)
      const before = mappingFile(portal, id)?.file ?? (existsSync(file) ? file : null)
      if (before !== null && options.force !== true && options.stdout !== true)
        throw new Fault(USAGE, {
          reason: `${before} exists already; --force takes its place, --stdout prints what would be written.`,
        })
      const { fields, statistics, definition } = await datasetAtHand(portal, base, id)
      const text = proposedMapping(definition, fields, statistics)
      if (options.stdout === true) {
        printDocument(text)
        return
      }
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, text)
      printText(
        `${file}: ${fields.length} fields; see lodestone mapping check ${id}, lodestone mapping preview ${id}\n`,
      )
      if (before !== null && before !== file)
        printError(`${before} is not used any more: the file that ends in .yml comes before it\n`)
    })
}
