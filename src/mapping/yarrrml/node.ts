/** A range of a document: offsets of its first character and of the one after its last. */
export interface YamlSpan {
  readonly start: number
  readonly end: number
}

/** A part of a document: its range, and its path, `mappings.person.predicateobjects[3]`. */
export interface YamlPart {
  readonly span: YamlSpan
  readonly path: string
}

/** The content of a YAML document; every scalar is the author's text. What an alias stands for has the path of its anchor. */
export type YamlNode = YamlText | YamlList | YamlMap

export interface YamlText extends YamlPart {
  readonly type: 'text'
  readonly text: string
  /** Offset in the document of the text's first character, if the text occurs there unchanged; else null. */
  readonly verbatim: number | null
  readonly quoted: boolean
}

export interface YamlList extends YamlPart {
  readonly type: 'list'
  readonly items: readonly YamlNode[]
}

export interface YamlMap extends YamlPart {
  readonly type: 'map'
  readonly entries: readonly YamlEntry[]
  /** Its syntax: `{a: b}`, block lines, or a single `a: b` in a flow list. */
  readonly form: 'braces' | 'lines' | 'bare'
}

export interface YamlEntry {
  readonly key: YamlText
  readonly value: YamlNode
}

/** True if nothing is written: no value, `~` or `null`. */
export function isEmpty(node: YamlNode): boolean {
  return node.type === 'text' && !node.quoted && ['', '~', 'null'].includes(node.text)
}

/** Describes a node in a few words, for messages. */
export function described(node: YamlNode): string {
  switch (node.type) {
    case 'text':
      return isEmpty(node) ? 'nothing' : `the text ${quoted(node.text)}`
    case 'list':
      return `a list of ${node.items.length}`
    case 'map':
      return node.entries.length === 0
        ? 'an empty map'
        : `a map with ${node.entries.length === 1 ? 'the key' : 'the keys'} ${node.entries
            .slice(0, 5)
            .map(({ key }) => shortened(key.text))
            .join(', ')}`
  }
}

/** A text of the document as shown in messages. */
export function quoted(text: string): string {
  return `\`${shortened(text)}\``
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}

/** Some characters of a text as a part of the document; the whole text if it does not occur there unchanged. */
export function within({ span, path, verbatim }: YamlText, from: number, to: number): YamlPart {
  if (verbatim === null) return { span, path }
  return { span: { start: verbatim + from, end: verbatim + Math.max(to, from) }, path }
}
