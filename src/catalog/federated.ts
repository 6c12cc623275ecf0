import type { Attachment, Dataset } from '../model/dataset.ts'
import { type Annotations, FIELD_TYPES, type Field, field } from '../model/field.ts'
import type { Metas, MetaValue } from '../model/metadata.ts'
import { textStart, textValue } from '../model/metadata.ts'
import { canonicalMoment } from '../model/time.ts'
import { datasetUid } from '../publishing/definition.ts'
import type { CatalogEntry } from './catalog-dataset.ts'
import { type Member, MemberUnavailable, readJson, requestMember } from './member.ts'

/** Pattern of names of other portals: they are part of addresses and IRIs. */
const FEDERATED_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}(@[A-Za-z0-9.-]{1,100})?$/

/** Datasets of a page, and the maximum position of a dataset on a page (REST 3.2). */
const PAGE = 100
const DEEPEST = 10_000

const PAGE_BYTES = 16 * 2 ** 20
const LIMITS = { timeout: 10_000, deadline: 30_000 }

const MAX_TEMPLATES = 20
const MAX_METAS = 60
const MAX_FIELDS = 1000
const MAX_TEXT_LENGTH = 5000
const META_NAME = /^[A-Za-z0-9][\w-]{0,59}$/

/**
 * Reads the public catalog of another portal through the Explore API, page by page (REST 7.4). Invalid entries are left out.
 * Throws {@link MemberUnavailable}.
 */
export async function readCatalog(member: Member): Promise<readonly CatalogEntry[]> {
  const entries = new Map<string, CatalogEntry>()
  for (let offset = 0; offset < DEEPEST; offset += PAGE) {
    const address = `/api/explore/v2.1/catalog/datasets?limit=${PAGE}&offset=${offset}`
    const answer = await requestMember(member, address, LIMITS)
    if (answer.status !== 200) {
      await answer.body?.cancel()
      throw new MemberUnavailable(`The portal ${member.domain} answers ${answer.status} for its catalog.`)
    }
    const { results, total_count: total } = objectOf(await readJson(member, answer, PAGE_BYTES))
    if (!Array.isArray(results))
      throw new MemberUnavailable(`The portal ${member.domain} answers no catalog.`)
    for (const given of results) {
      const entry = federatedEntry(objectOf(given), member)
      if (entry !== null) entries.set(entry.dataset.id, entry)
    }
    if (results.length < PAGE || offset + PAGE >= Number(total)) break
  }
  return [...entries.values()]
}

/** A dataset of another portal under its name in the network, `dataset@domain`; null if it has no valid name. */
function federatedEntry(given: Given, { url, domain }: Member): CatalogEntry | null {
  const source = textValue(given.dataset_id)
  if (source === null || !FEDERATED_ID.test(source)) return null
  const id = `${source}@${domain}`
  const metas = metasOf(given.metas)
  const described = metas.default ?? {}
  const records = Number(described.records_count ?? 0)
  const dataset: Dataset = {
    id,
    uid: /^da_\w{1,20}$/.test(String(given.dataset_uid)) ? String(given.dataset_uid) : datasetUid(id),
    fields: federatedFields(given.fields),
    metas: {
      ...metas,
      default: {
        ...described,
        source_domain: domain,
        source_domain_address: url,
        source_dataset: source,
        federated: true,
      },
    },
    visibility: 'public',
    attachments: NO_ATTACHMENTS,
  }
  return {
    dataset,
    statistics: { records: Number.isSafeInteger(records) && records >= 0 ? records : 0, fields: {} },
    published:
      momentOf(described.metadata_processed) ?? momentOf(described.modified) ?? '1970-01-01T00:00:00.000Z',
  }
}

/** Attachments are requested from the portal of the dataset. */
const NO_ATTACHMENTS: readonly Attachment[] = []

type Given = Readonly<Record<string, unknown>>

/** Metadata of an answer of the Explore API. @param maxLength of a text, in code units: longer ones are cut */
export function metasOf(given: unknown, maxLength = MAX_TEXT_LENGTH): Metas {
  const templates = Object.entries(objectOf(given)).filter(([name]) => isName(name))
  return Object.fromEntries(
    templates.slice(0, MAX_TEMPLATES).map(([template, metas]) => {
      const named = Object.entries(objectOf(metas)).filter(([name]) => isName(name))
      return [
        template,
        Object.fromEntries(
          named.slice(0, MAX_METAS).map(([name, value]) => [name, metaOf(value, maxLength)]),
        ),
      ]
    }),
  )
}

/** Names of properties that every object inherits are not allowed. */
function isName(name: string): boolean {
  return META_NAME.test(name) && !Object.hasOwn(Object.prototype, name)
}

function metaOf(value: unknown, maxLength: number): MetaValue {
  switch (typeof value) {
    case 'string':
      return textStart(value, maxLength)
    case 'number':
    case 'boolean':
      return value
    case 'object':
      if (value === null) return null
      if (Array.isArray(value))
        return value.slice(0, 1000).map(item => textValue(item) ?? JSON.stringify(item))
      return JSON.stringify(value).length > MAX_TEXT_LENGTH ? null : { ...value }
    default:
      return null
  }
}

export function federatedFields(given: unknown): readonly Field[] {
  if (!Array.isArray(given)) return []
  return given.slice(0, MAX_FIELDS).flatMap(each => {
    const { name, type, label, description, annotations } = objectOf(each)
    if (typeof name !== 'string' || name === '') return []
    const known = FIELD_TYPES.find(candidate => candidate === type) ?? 'text'
    return [
      field(name.slice(0, 200), known, {
        label: textValue(label)?.slice(0, 500) ?? name,
        description: textValue(description)?.slice(0, MAX_TEXT_LENGTH) ?? null,
        annotations: annotationsOf(annotations),
      }),
    ]
  })
}

/** Flags and single arguments become lists: versions of the API write them differently (REST 2.12). */
function annotationsOf(given: unknown): Annotations {
  const pairs = Object.entries(objectOf(given)).flatMap(([name, value]) => {
    if (value === false || value === null) return []
    const list: readonly unknown[] = value === true ? [] : Array.isArray(value) ? value : [value]
    const plain = list.filter(item => ['string', 'number', 'boolean'].includes(typeof item))
    return [[name, plain as Annotations[string]] as const]
  })
  return Object.fromEntries(pairs.slice(0, 30))
}

function momentOf(value: MetaValue | undefined): string | null {
  const moment = typeof value === 'string' ? canonicalMoment(value) : null
  return moment !== null && /^\d{4}-/.test(moment) ? new Date(moment).toISOString() : null
}

function objectOf(value: unknown): Given {
  return typeof value === 'object' && value !== null ? (value as Given) : {}
}
