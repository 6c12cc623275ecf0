import type { YamlNode } from './node.ts'

/**
 * True for the condition `equal(x, x)` of a link, with the same reference on both sides: it holds for the same record, which is
 * what links refer to anyway.
 */
export function isSameRecord(condition: YamlNode): boolean {
  if (condition.type === 'list' && condition.items.length === 1 && condition.items[0] !== undefined)
    return isSameRecord(condition.items[0])
  if (condition.type === 'text') {
    const sides =
      /^(?:[\w-]+:)?equal\(\s*(?:str1\s*=)?\s*(\$\([^()]+\))\s*,\s*(?:str2\s*=)?\s*(\$\([^()]+\))\s*\)$/.exec(
        condition.text.slice(0, 1000),
      )
    return sides !== null && sides[1] === sides[2]
  }
  if (condition.type !== 'map') return false
  const value = (...names: readonly string[]) =>
    condition.entries.find(({ key }) => names.includes(key.text))?.value
  const name = value('function', 'fn', 'f')
  if (name?.type !== 'text') return false
  if (name.text.includes('(')) return isSameRecord(name)
  const parameters = value('parameters', 'pms')
  if (!/^(?:[\w-]+:)?equal$/.test(name.text) || parameters?.type !== 'list') return false
  const sides = parameters.items.map(parameterValue)
  return sides.length === 2 && sides[0] !== undefined && sides[0].startsWith('$(') && sides[0] === sides[1]
}

function parameterValue(node: YamlNode): string | undefined {
  const value =
    node.type === 'list'
      ? node.items[1]
      : node.type === 'map'
        ? node.entries.find(({ key }) => key.text === 'value' || key.text === 'v')?.value
        : undefined
  return value?.type === 'text' ? value.text : undefined
}
