import { lookup } from '../../model/lookup.ts'

/** Letters that do not decompose into a plain letter and a mark. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
}

/** Maximum length of a field name. */
const MAX_NAME = 100

/** A valid field name for a title: lower case, accents folded, all else `_`; empty if nothing is left. */
function safeName(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøđðþłı]/g, letter => lookup(FOLDED, letter) ?? letter)
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, MAX_NAME)
    .replace(/_$/, '')
}

/**
 * Valid field names for titles, in the same order: at most 100 characters, never empty (`column_3` after its position) and unique
 * (`name_2`); the own name of a title has priority over a numbered one.
 */
export function safeNames(titles: readonly string[]): readonly string[] {
  const plain = titles.map((title, index) => safeName(title) || `column_${index + 1}`)
  const taken = new Set(plain)
  const used = new Set<string>()
  return plain.map(base => {
    let name = base
    for (let n = 2; used.has(name) || (name !== base && taken.has(name)); n++)
      name = `${base.slice(0, MAX_NAME - `_${n}`.length)}_${n}`
    used.add(name)
    return name
  })
}
