import { cutValues, type JsonElement, type StepTest } from './json-cutter.ts'
import { type JsonKind, JsonScanner } from './json-scanner.ts'
import { formatPointer } from './pointer.ts'
import { fileNameOf, readText, type TextFile } from './text.ts'

/**
 * Reads the elements of the array at a path of a JSON file one by one, however long the file is. Returns true at the end if the
 * array exists. Throws SourceUnreadable with line and column for malformed JSON anywhere in the file, and for a value at the path
 * that is no array.
 */
export async function* readElements(
  file: TextFile,
  path: readonly string[],
): AsyncGenerator<readonly JsonElement[], boolean> {
  const pointer = JSON.stringify(formatPointer(path))
  const steps = path.map(
    (key): StepTest =>
      (index, name) =>
        key === (index === undefined ? name : String(index)),
  )
  let isFound = false
  yield* cutValues(file, [...steps, () => true], (kind, depth) => {
    if (depth !== path.length) return undefined
    if (kind !== '[') return `The value at ${pointer} is not an array.`
    if (isFound) return `There is a second value at ${pointer}.`
    isFound = true
    return undefined
  })
  return isFound
}

/** Pointers of the outermost arrays of a JSON file, by the kind of their first element. */
export interface JsonArrays {
  readonly ofObjects: readonly string[]
  readonly ofArrays: readonly string[]
  readonly others: readonly string[]
}

/** Pointers of the outermost arrays of a JSON file, those of objects first: at most ten of each kind. */
export async function findArrays(file: TextFile): Promise<readonly string[]> {
  const { ofObjects, ofArrays, others } = await sortArrays(file)
  return [...ofObjects.slice(0, 10), ...[...ofArrays, ...others].slice(0, 10)]
}

/** The outermost arrays of a JSON file by kind. */
export async function sortArrays(file: TextFile): Promise<JsonArrays> {
  const found = { ofObjects: [] as string[], ofArrays: [] as string[], others: [] as string[] }
  const names: string[] = []
  const kinds: JsonKind[] = []
  /** Pointer of the array whose first element follows. */
  let begun: string | undefined
  const scanner = new JsonScanner(fileNameOf(file), {
    depth: 6,
    start(kind, depth) {
      kinds[depth] = kind
      if (begun !== undefined)
        (kind === '{' ? found.ofObjects : kind === '[' ? found.ofArrays : found.others).push(begun)
      const outermost = kind === '[' && !kinds.slice(0, depth).includes('[')
      begun = outermost ? formatPointer(names.slice(1, depth + 1)) : undefined
    },
    name(name, depth) {
      names[depth] = name
    },
    end() {
      if (begun !== undefined) found.others.push(begun)
      begun = undefined
    },
  })
  for await (const text of readText(file)) scanner.push(text)
  scanner.finish()
  return found
}
