import { fold } from './search.ts'

/** A name with its percent-encoded characters decoded; the name itself if they are no UTF-8. */
export function readableName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** A dataset id derived from the name of a file; an empty text if no character of the name is usable. */
export function datasetIdOf(name: string): string {
  const plain = name
    .replace(/[\\/]+$/, '')
    .replace(/^.*[\\/]/s, '')
    .replace(/\..*$/s, '')
  return fold(plain)
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 100)
    .replace(/-+$/, '')
}

/** An unused dataset id for a file. */
export function unusedId(name: string, taken: ReadonlySet<string>): string {
  const base = datasetIdOf(name).slice(0, 90) || 'dataset'
  let id = base
  for (let n = 2; taken.has(id); n++) id = `${base}-${n}`
  return id
}
