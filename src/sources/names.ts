import { lookup } from '../model/lookup.ts'

/** Letters that do not decompose into a plain one and a mark. */
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

/** The longest name of a field. */
const MAX_NAME = 100

/** The name that a field can have for a title: lower case, accents folded, all else `_`; empty where nothing is left. */
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
 * Names that fields can have for their titles, in the same order: safe, of 100 characters at most, never empty (`column_3` after its place) and
 * unique (`name_2`), where a title keeps its name before another takes it with a number.
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
