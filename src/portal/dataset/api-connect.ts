import { type Html, html } from '../../site/html.ts'
import { addressLine, codeBlock, plainAddress } from '../parts/code.ts'
import { doorAddress, doorPaths } from './doors.ts'
import type { TabContext } from './tab.ts'

/** Where a dataset answers programs, door by door. */
export function doorList({ visit, entry }: TabContext): Html {
  const { say } = visit
  const paths = doorPaths(entry.dataset.id)
  const dcat = { where: `datasetid="${entry.dataset.id}"` }
  const records: readonly (readonly [string, string, string, Readonly<Record<string, string>>])[] = [
    ['Explore API v2.1', paths.records, say('Records, groups and figures as JSON.'), {}],
    ['OData', paths.odata, say('For spreadsheets and business intelligence: Excel, Power BI, Tableau.'), {}],
    ['OpenAPI', paths.openapi, say('The description of this API with the fields of this dataset.'), {}],
  ]
  const doors = [
    ...(entry.content === 'records' ? records : []),
    [
      'Triple pattern fragments',
      paths.fragments,
      say('For Comunica and other clients that ask for triples.'),
      {},
    ],
    ['SPARQL', paths.sparql, say('The SPARQL 1.1 endpoint of this dataset.'), {}],
    ['VoID', paths.void, say('What is in its graph: classes, properties and figures, as RDF.'), {}],
    ['DCAT', '/api/explore/v2.1/catalog/exports/ttl', say('The metadata of the dataset, as RDF.'), dcat],
  ] as const
  const items = doors.map(([name, path, says, parameters]) => {
    const { href, address } = doorAddress(visit, path, parameters)
    return html`<div><dt>${name}</dt><dd>${addressLine(visit, href, address)}<br><span class="soft">${says}</span></dd></div>
`
  })
  const console = doorAddress(visit, paths.console).href
  return html`<dl class="metas">${items}</dl>
${entry.content === 'records' ? html`<p><a href="${console}">${say('All calls of the API, to try out on a console')}</a></p>` : ''}`
}

interface Tool {
  readonly name: string
  readonly steps: readonly (string | Html)[]
}

/** How the usual tools are connected, with the addresses of this dataset. */
export function connectTools(context: TabContext): Html {
  const { visit, entry } = context
  const tools =
    entry.content === 'records' ? [...tableTools(context), comunica(context)] : [comunica(context)]
  return html`${tools.map(
    ({
      name,
      steps,
    }) => html`<details class="tool"><summary>${name}</summary><ol>${steps.map(step => html`<li>${step}</li>`)}</ol></details>
`,
  )}${
    entry.dataset.visibility === 'public'
      ? ''
      : html`<p>${visit.say('This dataset is restricted: tools sign in with an API key as the password, and any name.')} <a href="${visit.href('/account/my-api-keys/')}">${visit.say('Make an API key')}</a></p>`
  }`
}

function tableTools({ visit, entry }: TabContext): readonly Tool[] {
  const { say } = visit
  const { id } = entry.dataset
  const service = doorAddress(visit, '/api/odata/').address
  const feed = doorAddress(visit, doorPaths(id).odata).address
  const csv = doorAddress(visit, `${doorPaths(id).exports}/csv`, { delimiter: ',' }).address
  const given = (address: string) => html`<br>${plainAddress(visit, address)}`
  const signIn =
    entry.dataset.visibility === 'public'
      ? say('Sign in as “Anonymous”.')
      : say('Sign in as “Basic”, with any name and an API key as the password.')
  return [
    {
      name: 'Excel',
      steps: [
        say('Choose Data › Get Data › From Other Sources › From OData Feed.'),
        html`${say('Give this address:')}${given(service)}`,
        signIn,
        say('Tick “{dataset}” and load it.', { dataset: id }),
      ],
    },
    {
      name: 'Power BI',
      steps: [
        say('Choose Get data › OData feed.'),
        html`${say('Give this address:')}${given(service)}`,
        signIn,
        html`${say('Or put this into the advanced editor, for larger pages:')}${codeBlock(
          visit,
          `let
  Source = OData.Feed("${service}", null,
    [Implementation = "2.0", Headers = [Prefer = "maxpagesize=5000"]]),
  Records = Source{[Name = "${id}"]}[Data]
in
  Records`,
          'code',
        )}`,
      ],
    },
    {
      name: 'Tableau',
      steps: [
        say('Choose Connect › To a Server › OData.'),
        html`${say('Give this address:')}${given(feed)}`,
        say('Tableau reads all pages once and makes an extract.'),
      ],
    },
    {
      name: 'R',
      steps: [
        html`${say('Read the whole dataset:')}${codeBlock(visit, `records <- read.csv("${csv}", fileEncoding = "UTF-8-BOM")`, 'code')}`,
      ],
    },
    {
      name: 'Python',
      steps: [
        html`${say('Read the whole dataset:')}${codeBlock(visit, `import pandas as pd\n\nrecords = pd.read_csv("${csv}")`, 'code')}`,
      ],
    },
  ]
}

function comunica({ visit, entry }: TabContext): Tool {
  const { say } = visit
  const fragments = doorAddress(visit, doorPaths(entry.dataset.id).fragments).address
  const query = 'SELECT * WHERE { ?subject ?predicate ?object } LIMIT 10'
  return {
    name: 'Comunica',
    steps: [
      html`${say('Ask its fragments on the command line:')}${codeBlock(visit, `npx -p @comunica/query-sparql comunica-sparql '${fragments}' '${query}'`, 'code')}`,
      html`${say('Or in a program:')}${codeBlock(
        visit,
        `import { QueryEngine } from '@comunica/query-sparql'

const engine = new QueryEngine()
const bindings = await engine.queryBindings('${query}', {
  sources: ['${fragments}'],
})
for await (const binding of bindings) console.log(binding.toString())`,
        'code',
      )}`,
    ],
  }
}
