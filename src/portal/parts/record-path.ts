import type { ServedDataset } from '../../catalog/served.ts'
import type { ResourceRule } from '../../mapping/ir.ts'
import { subjectReport } from '../../mapping/report.ts'
import { compileTerm } from '../../mapping/terms.ts'
import { lookup } from '../../model/lookup.ts'
import type { Value } from '../../model/value.ts'
import { recordIri } from '../../rdf/minted-iris.ts'
import type { PageContext } from '../../site/page-context.ts'

/** Returns the IRI of the resource of a record by its mapping. */
type Namer = (id: string, object: Readonly<Record<string, unknown>>) => string | null

const namers = new WeakMap<ServedDataset, Namer>()

/**
 * The address of the page of a record: that of the resource which the mapping generates, else that of the record by the
 * direct mapping.
 *
 * @param object the record in an answer of a query
 */
export function recordPath(
  { site }: Pick<PageContext, 'site'>,
  entry: ServedDataset,
  id: string,
  object: Readonly<Record<string, unknown>>,
): string {
  const namer = namers.get(entry) ?? namerOf(entry)
  namers.set(entry, namer)
  const root = new URL(site.base).pathname.replace(/\/+$/, '')
  const named = namer(id, object)
  const isOwn = named?.startsWith(`${site.base}/ld/`) === true
  return root + (isOwn ? named.slice(site.base.length) : recordIri('', entry.dataset.id, id))
}

/** Names records by the first resource of their mapping that none of its resources links to. */
function namerOf({ mapping, dataset }: ServedDataset): Namer {
  const resources = mapping?.mapping.resources ?? []
  const main = resources.find(rule => !isLinkedTo(rule, resources)) ?? resources[0]
  if (main === undefined) return () => null
  const { fields } = dataset
  const write = compileTerm(main.subject, fields, { canonical: true, blank: label => `_:${label}` }, main.key)
  return (id, object) => {
    // Answers write dates and shapes differently: a subject that uses them has no value here.
    const values = fields.map(
      ({ name, type }): Value =>
        type === 'text' || type === 'int' || type === 'double' || type === 'boolean'
          ? ((lookup(object, name) as Value | undefined) ?? null)
          : null,
    )
    const subjectText = write({ id, position: 0, values }, subjectReport(main))
    const subject = typeof subjectText === 'string' ? subjectText : subjectText?.[0]
    return subject?.startsWith('<') === true && !subject.includes('\\') ? subject.slice(1, -1) : null
  }
}

function isLinkedTo({ key }: ResourceRule, resources: readonly ResourceRule[]): boolean {
  return resources.some(
    other =>
      other.key !== key &&
      other.statements.some(({ object }) => object.type === 'link' && object.resource === key),
  )
}
