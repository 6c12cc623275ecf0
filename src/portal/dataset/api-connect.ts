import { type Html, html } from '../../site/html.ts'
import { addressLine, codeBlock, plainAddress } from '../parts/highlight.ts'
import { endpointAddress, endpointPaths, type TabContext } from './tab.ts'

/** The addresses of a dataset for programs, one API at a time. */
export function endpointList({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  const paths = endpointPaths(entry.dataset.id)
  const dcat = { where: `datasetid="${entry.dataset.id}"` }
  const records: readonly (readonly [string, string, string, Readonly<Record<string, string>>])[] = [
    ['Explore API v2.1', paths.records, t('Records, groups and aggregates as JSON.'), {}],
    ['OData', paths.odata, t('For spreadsheets and business intelligence: Excel, Power BI, Tableau.'), {}],
    ['OpenAPI', paths.openapi, t('The description of this API with the fields of this dataset.'), {}],
  ]
  const endpoints = [
    ...(entry.content === 'records' ? records : []),
    [
      'Triple pattern fragments',
      paths.fragments,
      t('For Comunica and other clients that request triples.'),
      {},
    ],
    ['SPARQL', paths.sparql, t('The SPARQL 1.1 endpoint of this dataset.'), {}],
    [
      'VoID',
      paths.void,
      t('The contents of its graph: classes, properties and statistics, as RDF.'),
      { format: 'turtle' },
    ],
    ['DCAT', '/api/explore/v2.1/catalog/exports/ttl', t('The metadata of the dataset, as RDF.'), dcat],
  ] as const
  const items = endpoints.map(([name, path, description, parameters]) => {
    const { href, address } = endpointAddress(pageContext, path, parameters)
    return html`<div><dt>${name}</dt><dd>${addressLine(pageContext, href, address)}<br><span class="soft">${description}</span></dd></div>
`
  })
  const console = endpointAddress(pageContext, paths.console).href
  return html`<dl class="metas">${items}</dl>
${entry.content === 'records' ? html`<p><a href="${console}">${t('All calls of the API, to try out on a console')}</a></p>` : ''}`
}

interface Tool {
  readonly name: string
  readonly steps: readonly (string | Html)[]
}

/** Instructions to connect common tools, with the addresses of this dataset. */
export function connectTools(context: TabContext): Html {
  const { pageContext, entry } = context
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
      : html`<p>${pageContext.t('This dataset is restricted: tools sign in with an API key as the password, and any name.')} <a href="${pageContext.href('/account/my-api-keys/')}">${pageContext.t('Make an API key')}</a></p>`
  }`
}

function tableTools({ pageContext, entry }: TabContext): readonly Tool[] {
  const { t } = pageContext
  const { id } = entry.dataset
  const service = endpointAddress(pageContext, '/api/odata/').address
  const feed = endpointAddress(pageContext, endpointPaths(id).odata).address
  const csv = endpointAddress(pageContext, `${endpointPaths(id).exports}/csv`, { delimiter: ',' }).address
  const given = (address: string) => html`<br>${plainAddress(pageContext, address)}`
  const signIn =
    entry.dataset.visibility === 'public'
      ? t('Sign in as “Anonymous”.')
      : t('Sign in as “Basic”, with any name and an API key as the password.')
  return [
    {
      name: 'Excel',
      steps: [
        t('Choose Data › Get Data › From Other Sources › From OData Feed.'),
        html`${t('Give this address:')}${given(service)}`,
        signIn,
        t('Tick “{dataset}” and load it.', { dataset: id }),
      ],
    },
    {
      name: 'Power BI',
      steps: [
        t('Choose Get data › OData feed.'),
        html`${t('Give this address:')}${given(service)}`,
        signIn,
        html`${t('Or put this into the advanced editor, for larger pages:')}${codeBlock(
          pageContext,
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
        t('Choose Connect › To a Server › OData.'),
        html`${t('Give this address:')}${given(feed)}`,
        t('Tableau reads all pages once and makes an extract.'),
      ],
    },
    {
      name: 'R',
      steps: [
        html`${t('Read the whole dataset:')}${codeBlock(pageContext, `records <- read.csv("${csv}", fileEncoding = "UTF-8-BOM")`, 'code')}`,
      ],
    },
    {
      name: 'Python',
      steps: [
        html`${t('Read the whole dataset:')}${codeBlock(pageContext, `import pandas as pd\n\nrecords = pd.read_csv("${csv}")`, 'code')}`,
      ],
    },
  ]
}

function comunica({ pageContext, entry }: TabContext): Tool {
  const { t } = pageContext
  const fragments = endpointAddress(pageContext, endpointPaths(entry.dataset.id).fragments).address
  const query = 'SELECT * WHERE { ?subject ?predicate ?object } LIMIT 10'
  return {
    name: 'Comunica',
    steps: [
      html`${t('Query its fragments on the command line:')}${codeBlock(pageContext, `npx -p @comunica/query-sparql comunica-sparql '${fragments}' '${query}'`, 'code')}`,
      html`${t('Or in a program:')}${codeBlock(
        pageContext,
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
