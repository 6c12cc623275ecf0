/**
 * Column names for the cells of a header: trimmed; an empty one becomes `column_3` after its position, and a repeated one
 * `name_2`, never a name that the header itself contains.
 */
export function columnNames(header: readonly string[]): readonly string[] {
  const given = new Set(header.map(cell => cell.trim()))
  const used = new Set<string>()
  return header.map((cell, index) => {
    const trimmed = cell.trim()
    const base = trimmed === '' || trimmed === '__proto__' ? `column_${index + 1}` : trimmed
    let name = base
    for (let n = 2; used.has(name) || (name !== trimmed && given.has(name)); n++) name = `${base}_${n}`
    used.add(name)
    return name
  })
}
