import * as yaml from 'yaml'
import { type CollectionTag, Document, parseDocument, type Scalar, type ScalarTag, type Tags } from 'yaml'
import { Fault, placeText } from '../errors/errors.ts'
import { CONFIG_INVALID } from './faults.ts'

/**
 * The text of a YAML document with changes: comments, order and everything unchanged stay as they were written, also numbers such as
 * 007 and line ends. Anchors stay as long as the change is one of the named member alone: else each alias becomes a copy of what it
 * stands for. Throws ConfigInvalid if the text is no YAML.
 *
 * @param name of the file in messages
 */
export function editedDocument(text: string, name: string, change: (document: Document) => void): string {
  const edited = (withAliases: boolean) => {
    const document = text.trim() === '' ? new Document({}) : parsed(text, name)
    if (!withAliases) expandAliases(document)
    change(document)
    return document
  }
  const keepsAliases = !hasAliases(text, name) || alike(() => edited(true), edited(false))
  const written = edited(keepsAliases).toString({ lineWidth: 0 })
  return text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written
}

/** Replaces the value of a scalar, which is then no longer written as it was. */
export function replaceScalar(scalar: Scalar, value: unknown): void {
  scalar.value = value
  delete scalar.source
}

function parsed(text: string, file: string): Document {
  const document = parseDocument(text, { customTags: asWritten, prettyErrors: false })
  const [error] = document.errors
  if (error === undefined) return document as unknown as Document
  const before = text.slice(0, error.pos[0]).split('\n')
  const place = { file, line: before.length, column: (before.at(-1) ?? '').length + 1 }
  throw new Fault(CONFIG_INVALID, { reason: placeText(place) + error.message }, { place })
}

/** Tags whose unchanged numbers keep their notation. */
function asWritten(tags: Tags): Tags {
  return tags.map(tag =>
    typeof tag === 'object' && isNumberTag(tag) ? { ...tag, stringify: source(tag) } : tag,
  )
}

function isNumberTag(tag: ScalarTag | CollectionTag): tag is ScalarTag {
  return /:(?:int|float)$/.test(tag.tag)
}

function source({ stringify }: ScalarTag): NonNullable<ScalarTag['stringify']> {
  return (item, ...rest) => item.source ?? stringify?.(item, ...rest) ?? String(item.value)
}

function hasAliases(text: string, name: string): boolean {
  let found = false
  if (text.trim() !== '')
    yaml.visit(parsed(text, name), {
      Alias: () => {
        found = true
        return yaml.visit.BREAK
      },
    })
  return found
}

/** Replaces each alias by a copy of its node, which has no anchor. */
function expandAliases(document: Document): void {
  yaml.visit(document, {
    Alias: (_, alias) => {
      const copy = alias.resolve(document)?.clone() as Scalar | undefined
      if (copy === undefined) return undefined
      delete copy.anchor
      return copy
    },
  })
  yaml.visit(document, {
    Node: (_, node) => {
      if ('anchor' in node) delete node.anchor
    },
  })
}

/** True if a document can be made, and has the values of another one. */
function alike(make: () => Document, other: Document): boolean {
  try {
    const document = make()
    document.toString()
    return JSON.stringify(document.toJS()) === JSON.stringify(other.toJS())
  } catch {
    return false
  }
}
