/** Places that a warning names. */
const MAX_PLACES = 3

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** Collects names that stand twice in an object, of whose values JSON.parse retains the last. */
export class DoubleKeys {
  private count = 0
  private readonly places: string[] = []

  clear(): void {
    this.count = this.places.length = 0
  }

  /** Examines a value. @param line of its text, which begins at the column */
  note(text: string, value: unknown, line: number, column: number): void {
    // Nearly all texts have a quote and a colon for each name, and need no second look.
    if (occurrences(text, '":') === keysOf(value)) return
    const objects: (Set<string> | null)[] = []
    let name: RegExpMatchArray | undefined
    for (const token of text.matchAll(TOKENS)) {
      const [sign] = token
      if (sign === '{' || sign === '[') objects.push(sign === '{' ? new Set() : null)
      else if (sign === '}' || sign === ']') objects.pop()
      else if (sign === ':' && name !== undefined) this.noteName(objects.at(-1), name, text, line, column)
      name = sign.startsWith('"') ? token : undefined
    }
  }

  warnings(): readonly string[] {
    if (this.count === 0) return []
    const names = this.count === 1 ? 'a name stands' : `${this.count} names stand`
    const places = `${this.places.join('; ')}${this.count > MAX_PLACES ? ' …' : ''}`
    return [`${names} twice in an object, of which the last value is read: ${places}`]
  }

  private noteName(
    names: Set<string> | null | undefined,
    { 0: quoted, index = 0 }: RegExpMatchArray,
    text: string,
    line: number,
    column: number,
  ): void {
    const name = JSON.parse(quoted) as string
    if (!names?.has(name)) {
      names?.add(name)
      return
    }
    this.count++
    if (this.places.length >= MAX_PLACES) return
    const above = text.slice(0, index).split(/\r\n|\r|\n/)
    const before = above.at(-1)?.length ?? 0
    const at = `line ${line + above.length - 1}, column ${above.length === 1 ? column + before : before + 1}`
    this.places.push(`${JSON.stringify(name.slice(0, 40))} (${at})`)
  }
}

function occurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** The number of names in a value. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  // Positions have no names.
  if (Array.isArray(value) && typeof value[0] === 'number') return 0
  const members: readonly unknown[] = Object.values(value)
  let count = Array.isArray(value) ? 0 : members.length
  for (const member of members) if (typeof member === 'object') count += keysOf(member)
  return count
}
