import { Command } from 'commander'
import { fragmentsAddress } from '../api/fragments/address.ts'
import {
  BASE_OPTION,
  configOf,
  JSON_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  portArgument,
} from './options.ts'

/** `lodestone query`: SPARQL with Comunica over the fragments of a dataset that is being served. */
export function queryCommand(): Command {
  return new Command('query')
    .description('run a SPARQL query with Comunica over the fragments of a served dataset')
    .argument('<dataset>', 'id of a dataset, or the address of any fragments')
    .argument('<sparql>', 'SELECT, ASK, CONSTRUCT or DESCRIBE')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port of the default base address', portArgument)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (dataset: string, sparql: string, options: PortalOptions & { readonly json?: boolean }) => {
      const address = /^https?:/.test(dataset) ? dataset : fragmentsAddress(configOf(options).base, dataset)
      const { QueryEngine } = await import('@comunica/query-sparql')
      const engine = new QueryEngine()
      const result = await engine.query(sparql, { sources: [address] })
      const graph = result.resultType === 'quads'
      const format = graph
        ? 'text/turtle'
        : options.json === true
          ? 'application/sparql-results+json'
          : 'text/csv'
      const { data } = await engine.resultToString(
        result,
        result.resultType === 'boolean' ? 'simple' : format,
      )
      await new Promise<void>((resolve, reject) => {
        data.once('error', reject)
        data.once('end', () => resolve())
        data.on('data', (piece: string | Buffer) => process.stdout.write(piece))
      })
    })
}
