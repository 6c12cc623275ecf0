import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { stringify } from 'yaml'
import { DATASET_ID } from '../catalog/definition.ts'
import { checkRdf } from '../catalog/rdf-graphs.ts'
import type { QuadPlace } from '../catalog/rdf-quads.ts'
import { Fault } from '../errors.ts'
import { titleFromName } from '../model/title.ts'
import { inferFields } from '../sources/infer.ts'
import { formatOf, openSource, type SourceFolders } from '../sources/open.ts'
import { openRdf, type RdfSource, rdfFormatOf } from '../sources/rdf.ts'
import { PORTAL_OPTION, type PortalOptions } from './options.ts'
import { configOf } from './settings.ts'

/** `lodestone import`: makes the folder of a dataset for a file, with typed fields and a title, ready to edit. */
export function importCommand(): Command {
  return new Command('import')
    .description('make the dataset folder for a file: typed fields, title, ready to edit')
    .argument('<file>', 'CSV, TSV, JSON, JSON Lines, GeoJSON or RDF file')
    .option('--id <id>', 'id of the dataset (default: from the name of the file)')
    .option(...PORTAL_OPTION)
    .action(async (file: string, options: PortalOptions & { readonly id?: string }) => {
      const { portal, base } = configOf(options)
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
      const folders = { datasetFolder: path.dirname(path.resolve(file)), portalFolder: portal }
      const rdf = rdfFormatOf({ path: name })
      const found =
        rdf === undefined
          ? await fieldsOf(name, folders)
          : await quadsOf(openRdf({ path: name }, folders, rdf), { base, dataset: id })
      mkdirSync(folder, { recursive: true })
      copyFileSync(file, path.join(folder, name))
      writeFileSync(path.join(folder, 'dataset.yaml'), stringify(document(name, found.fields)))
      process.stdout.write(`${path.join(folder, 'dataset.yaml')}: ${found.told}\n`)
    })
}

/** What was found in a file: its fields, where it has records, and how it is told. */
interface Found {
  readonly fields?: readonly object[]
  readonly told: string
}

async function fieldsOf(name: string, folders: SourceFolders): Promise<Found> {
  const format = formatOf(name)
  const spec = { path: name, ...(format === undefined ? {} : { format }) }
  const fields = await inferFields(openSource(spec, folders))
  return { fields, told: `${fields.length} fields` }
}

/** A file of RDF is read as publishing will read it, so that what is wrong with it shows now. */
async function quadsOf(source: RdfSource, place: QuadPlace): Promise<Found> {
  return { told: `RDF with ${await checkRdf(source, place)} triples` }
}

function document(name: string, fields: readonly object[] | undefined): object {
  return {
    source: { path: name },
    ...(fields === undefined ? {} : { fields }),
    metas: {
      default: {
        title: titleFromName(name),
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
