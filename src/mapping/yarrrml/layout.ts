/** A layout error of a YAML text. */
export interface LayoutProblem {
  readonly start: number
  readonly end: number
  readonly message: string
  readonly hint?: string
}

interface Line {
  readonly start: number
  /** Text without indentation, comment and trailing spaces. */
  readonly body: string
  readonly indent: number
  readonly dash: boolean
  /** True if deeper lines may follow: it ends with a colon or is a dash alone. */
  readonly opens: boolean
}

const MAX = 4

/**
 * Finds frequent layout errors of mappings, line by line: tabs, brackets and quotes that are not closed in their line, lines with
 * inconsistent indentation. Only useful for a text that cannot be parsed: all of this is allowed somewhere in YAML.
 */
export function layoutProblems(text: string): readonly LayoutProblem[] {
  const problems: LayoutProblem[] = []
  const lines: Line[] = []
  let start = 0
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\r$/, '')
    const tab = /^ *\t/.exec(line)
    if (tab !== null && line.trim() !== '')
      problems.push({
        start: start + tab[0].length - 1,
        end: start + tab[0].length,
        message: 'the line begins with a tab',
        hint: 'YAML is indented with spaces only.',
      })
    const scan = scanLine(line)
    problems.push(
      ...scan.problems.map(found => ({ ...found, start: start + found.start, end: start + line.length })),
    )
    const body = line.slice(0, scan.end).trim()
    if (body !== '' && body !== '---' && !body.startsWith('%'))
      lines.push({
        start,
        body,
        indent: line.length - line.trimStart().length,
        dash: /^-(\s|$)/.test(body),
        opens: /:$/.test(body) || body === '-' || scan.problems.length > 0,
      })
    start += raw.length + 1
  }
  if (problems.length === 0) problems.push(...indentation(lines))
  return problems.slice(0, MAX)
}

/** Scans the brackets and quotes of one line, and finds where its comment begins. */
function scanLine(line: string): { readonly problems: readonly LayoutProblem[]; readonly end: number } {
  const isItem = line.trimStart().startsWith('- ')
  const open: number[] = []
  let quote = ''
  let quoteAt = 0
  let end = line.length
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (quote !== '') {
      if (quote === '"' && character === '\\') at++
      else if (character === quote) quote = ''
    } else if (
      (character === '"' || character === "'") &&
      /(^|[\s[{,:(])$/.test(line.slice(Math.max(0, at - 1), at))
    ) {
      quote = character
      quoteAt = at
    } else if (character === '#' && (at === 0 || /\s/.test(line.charAt(at - 1)))) {
      end = at
      break
    } else if (BRACKETS_IN_REFERENCE.test(line.slice(at, at + MAX_REFERENCE))) {
      return { problems: [bracketed(line, at)], end }
    } else if (isOpening(line, at)) open.push(at)
    else if ((character === ']' || character === '}') && open.length > 0) open.pop()
    else if (character === ']' && isItem)
      return {
        problems: [
          problem(at, line, 'the bracket ] closes a list that is not open', 'Begin the list with [.'),
        ],
        end,
      }
  }
  if (quote !== '') {
    const hint = `Close it with another ${quote}.`
    return { problems: [problem(quoteAt, line, `the quote ${quote} is never closed in its line`, hint)], end }
  }
  const [first] = open
  if (first === undefined) return { problems: [], end }
  const hint =
    end < line.length
      ? 'After a space # begins a comment: put a text that has one in quotes.'
      : `Write ${line.charAt(first) === '[' ? ']' : '}'} at its end.`
  const what = line.charAt(first) === '[' ? 'list' : 'map'
  return {
    problems: [problem(first, line, `the ${what} that begins here is not closed in its line`, hint)],
    end,
  }
}

/** A reference with brackets, which YAML takes as its own between brackets. */
const BRACKETS_IN_REFERENCE = /^\$\([^()[\]{}]*[[\]{}][^()]*\)/
const MAX_REFERENCE = 200

function bracketed(line: string, at: number): LayoutProblem {
  const written = BRACKETS_IN_REFERENCE.exec(line.slice(at, at + MAX_REFERENCE))?.[0] ?? ''
  const message = `the brackets of ${written} are taken as those of YAML`
  return problem(at, line, message, `Put the text in quotes: "${written}".`)
}

/** Brackets count if a value may begin there: `a[0]` is text. */
function isOpening(line: string, at: number): boolean {
  const character = line.charAt(at)
  return (character === '[' || character === '{') && /[\s[{,]/.test(at === 0 ? ' ' : line.charAt(at - 1))
}

function problem(start: number, line: string, message: string, hint: string): LayoutProblem {
  return { start, end: line.length, message, hint }
}

interface Block {
  readonly indent: number
  readonly first: Line
  /** The line that opened it. */
  readonly opener: Line | undefined
  /** Number of lines that begin in its column so far. */
  lines: number
  /** The last of them. */
  last: Line
}

/** The first place with inconsistent indentation, reported for every line that may be wrong. */
function indentation(lines: readonly Line[]): readonly LayoutProblem[] {
  const blocks: Block[] = []
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1]
    const first = lines[index - 2]?.opens !== false
    const suspects = misplaced(blocks, before, first, line)
    if (suspects.length > 0) return suspects.map(described)
    const top = blocks.at(-1)
    if (top === undefined || line.indent > top.indent)
      blocks.push({ indent: line.indent, first: line, opener: before, lines: 1, last: line })
    else {
      top.lines += 1
      top.last = line
    }
    const dashes = line.dash ? /^(?:-\s+)+(?=[^\s[{"']+:(?:\s|$))/.exec(line.body)?.[0].length : undefined
    // `- key: value` begins a block of keys at the column of the key.
    if (dashes !== undefined)
      blocks.push({ indent: line.indent + dashes, first: line, opener: undefined, lines: 1, last: line })
  }
  return []
}

/** The lines of which one is misplaced, none if all are right; removes the blocks that the line ends. */
function misplaced(
  blocks: Block[],
  before: Line | undefined,
  beforeIsFirst: boolean,
  line: Line,
): readonly Line[] {
  let ended: Block | undefined
  for (let top = blocks.at(-1); top !== undefined && top.indent > line.indent; top = blocks.at(-1)) {
    ended = top
    blocks.pop()
  }
  const top = blocks.at(-1)
  if (ended !== undefined && top?.indent !== line.indent) {
    // If more than three lines agree, this line is the wrong one.
    if (ended.lines > 3) return [line]
    return ended.opener?.opens === true ? [ended.first, ended.opener, line] : [ended.first, line]
  }
  // A key whose block has ended cannot be followed by list items.
  if (ended !== undefined && top !== undefined && line.dash && !top.last.dash) return [ended.first, line]
  if (top === undefined || before === undefined || before.opens) return []
  if (line.indent > top.indent) return beforeIsFirst ? [before, line] : [line]
  if (before.indent !== line.indent || before.dash === line.dash) return []
  // The list of a key may begin in the column of the key.
  if (before.dash && !top.first.dash) return []
  return beforeIsFirst ? [before, line] : [line]
}

function described(line: Line): LayoutProblem {
  const start = line.start + line.indent
  return {
    start,
    end: start + line.body.length,
    message: 'the line does not begin where its neighbours do',
    hint: 'What belongs together begins in the same column, the items of a list with "- ".',
  }
}
