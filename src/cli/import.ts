import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { stringify } from 'yaml'
import { DATASET_ID } from '../catalog/definition.ts'
import { Fault } from '../errors.ts'
import { inferFields } from '../sources/infer.ts'
import { formatOf, openSource } from '../sources/open.ts'
import { configOf, PORTAL_OPTION, type PortalOptions } from './options.ts'

/** `lodestone import`: makes the folder of a dataset for a file, with typed fields and a title, ready to edit. */
export function importCommand(): Command {
  return new Command('import')
    .description('make the dataset folder for a file: typed fields, title, ready to edit')
    .argument('<file>', 'CSV, TSV, JSON, JSON Lines or GeoJSON file')
    .option('--id <id>', 'id of the dataset (default: from the name of the file)')
    .option(...PORTAL_OPTION)
    .action(async (file: string, options: PortalOptions & { readonly id?: string }) => {
      const { portal } = configOf(options)
      if (!existsSync(file))
        throw new Fault('SourceUnreadable', { reason: `${file} was not found` }, { place: { file } })
      const id = options.id ?? idFromName(file)
      if (!DATASET_ID.test(id))
        throw new Fault('Usage', {
          reason: `${id} is no dataset id: lower-case letters, digits, - and _; choose one with --id`,
        })
      const folder = path.join(portal, 'data', id)
      if (existsSync(folder))
        throw new Fault('Usage', { reason: `${folder} exists already; choose another id with --id` })
      const name = path.basename(file)
      const format = formatOf(name)
      const source = openSource(
        { path: name, ...(format === undefined ? {} : { format }) },
        {
          datasetFolder: path.dirname(path.resolve(file)),
          portalFolder: portal,
        },
      )
      const fields = await inferFields(source)
      mkdirSync(folder, { recursive: true })
      copyFileSync(file, path.join(folder, name))
      writeFileSync(path.join(folder, 'dataset.yaml'), stringify(document(name, fields)))
      process.stdout.write(`${path.join(folder, 'dataset.yaml')}: ${fields.length} fields\n`)
    })
}

function document(name: string, fields: readonly object[]): object {
  const title = path.parse(name).name.replaceAll(/[_-]+/g, ' ')
  return {
    source: { path: name },
    fields,
    metas: {
      default: {
        title: title.charAt(0).toUpperCase() + title.slice(1),
        description: '',
        keyword: [],
        license: '',
        publisher: '',
      },
    },
    visibility: 'public',
  }
}

function idFromName(file: string): string {
  return path
    .basename(file)
    .replace(/\..*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}
