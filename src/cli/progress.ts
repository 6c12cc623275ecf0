import type cliProgress from 'cli-progress'
import type { ProgressReporter } from '../app/progress.ts'
import type { RuleReport } from '../mapping/compile.ts'
import { type Diagnostic, diagnosticText } from '../mapping/diagnostic.ts'
import { invalidValues } from '../mapping/report.ts'
import type { MappingRefusal } from '../publishing/mapping/mapping-file.ts'
import type { PublishMessage } from '../publishing/publish-all.ts'
import type { MappingReport } from '../publishing/publish-types.ts'
import { conversionErrorsText } from '../sources/typing/typed-records.ts'
import { leftOutTexts } from './mapping/rules.ts'
import { counted, terminalText } from './print.ts'

/** @param out normally process.stderr */
export async function createProgress(out: NodeJS.WriteStream): Promise<ProgressReporter> {
  // Only a terminal has bars.
  const bars = out.isTTY ? (await import('cli-progress')).default : null
  const failures: string[] = []
  /** Records so far of the datasets that are being published. */
  const running = new Map<string, number>()
  let bar: cliProgress.SingleBar | null = null
  let task = ''
  const stop = () => {
    bar?.stop()
    bar = null
    task = ''
  }
  const show = (name: string, done: number, total: number, unit: string) => {
    if (bars === null) return
    if (bar === null || task !== name) {
      stop()
      task = name
      bar = new bars.SingleBar({
        stream: out,
        clearOnComplete: true,
        hideCursor: true,
        format:
          total > 0
            ? `${name} {bar} {percentage}% | {value}/{total} ${unit} | {eta_formatted} left`
            : `${name} {value} ${unit} in {duration_formatted}`,
      })
      bar.start(total > 0 ? total : Number.MAX_SAFE_INTEGER, 0)
    }
    bar.update(done)
  }
  const line = (text: string) => {
    stop()
    out.write(terminalText(`${text}\n`))
  }
  return {
    failures,
    update: (name, done, total) => show(name, done, total, 'triples'),
    publication: message => {
      if (message.type !== 'progress') running.delete(message.dataset)
      switch (message.type) {
        case 'progress': {
          running.set(message.dataset, message.records)
          const records = [...running.values()].reduce((sum, each) => sum + each, 0)
          return show(`publishing ${[...running.keys()].join(', ')}`, records, 0, 'records')
        }
        case 'loading':
          return show(`loading ${message.dataset}`, message.triples, message.total, 'triples')
        case 'waiting':
          return
        case 'unchanged':
          return line(
            `${message.dataset}: unchanged, ${counted(message.records, 'record')}${fetchFailureText(message)}`,
          )
        case 'mapping-refused':
          failures.push(message.dataset)
          return line(refusalText(message.dataset, message))
        case 'failed':
          failures.push(message.dataset)
          return line(`${message.dataset}: not published\n${message.reason.replace(/^/gm, '  ')}`)
        case 'published':
          return line(publishedText(message))
        case 'withdrawn':
          return line(`${message.dataset}: withdrawn, ${message.reason}`)
        default:
          return message satisfies never
      }
    },
    done: stop,
  }
}

function publishedText(message: Extract<PublishMessage, { type: 'published' }>): string {
  const { dataset, report } = message
  const seconds = Math.max(report.milliseconds, 1) / 1000
  const rate = Math.round(report.records / seconds)
  const done = report.isSourceRead ? '' : ' from the records published before'
  const again = report.damage === null ? '' : ` (made again: ${report.damage} in the version before)`
  const first = `${dataset}: ${counted(report.records, 'record')}, ${counted(report.triples, 'triple')}${done} in ${seconds.toFixed(1)} s (${rate} records/s)${again}${fetchFailureText(message)}`
  const mapped = report.mapping === null ? '' : mappingReportText(dataset, report.mapping)
  const repeated =
    report.repeated === 0
      ? ''
      : `\n  ${counted(report.repeated, 'record has', 'records have')} the identity of another record`
  const read = repeated + warningsText(dataset, report.warnings)
  if (report.misfitCount === 0) return first + read + mapped
  const shown = report.misfits
    .slice(0, MAX_FIELDS)
    .map(conversionErrors => `\n  ${conversionErrorsText(conversionErrors)}`)
  const more = report.misfits.length - MAX_FIELDS
  const conversionErrors = counted(report.misfitCount, 'value does not fit its', 'values do not fit their')
  const rest = more > 0 ? `\n  … and ${counted(more, 'more field')}, see: lodestone check ${dataset}` : ''
  return `${first}${read}\n  ${conversionErrors} field and became null${shown.join('')}${rest}${mapped}`
}

/** How many warnings the reading of a source has, and the first of them. */
function warningsText(dataset: string, warnings: readonly string[]): string {
  if (warnings.length === 0) return ''
  const shown = warnings.slice(0, MAX_WARNINGS).map(warning => `\n    ${warning}`)
  const rest = warnings.length > MAX_WARNINGS ? '\n    …' : ''
  return `\n  ${counted(warnings.length, 'warning')} about the source, see: lodestone check ${dataset}${shown.join('')}${rest}`
}

/** The data of a source that cannot be fetched stay unchanged: the reason is printed. */
function fetchFailureText({ fetchFailure }: { readonly fetchFailure?: string }): string {
  return fetchFailure === undefined
    ? ''
    : `\n  the address gave no new data: ${fetchFailure.replaceAll('\n', '\n  ')}`
}

/** Maximum warnings about the source shown for one publication. */
const MAX_WARNINGS = 5

/** Maximum fields with conversion errors shown for one publication. */
const MAX_FIELDS = 5

/** Maximum diagnostics and rules shown for one publication. */
const SHOWN = 20

/** Describes a refused mapping: the reasons, and what remains in force instead. */
function refusalText(dataset: string, { file, diagnostics, kept }: MappingRefusal): string {
  const inForce = {
    previous: 'the mapping before it stays in force',
    direct: 'the direct mapping is used',
    version: 'the version before stays in force, for its mapping does not fit the fields any more',
  }[kept]
  return `${dataset}: the mapping is refused; ${inForce}${described(file, diagnostics, dataset)}`
}

/** Describes the noteworthy results of a mapping: warnings, and rules that skipped records. */
function mappingReportText(dataset: string, { file, diagnostics, rules }: MappingReport): string {
  const silent = rules.filter(rule => rule.predicate !== null && rule.made === 0)
  const lossy = rules.filter(rule => rule.made > 0 && invalidValues(rule) + rule.cut > 0)
  const lines = [...silent, ...lossy].map(rule => `\n  ${ruleText(rule)}`)
  const more = lines.length - SHOWN
  const rest = more > 0 ? `\n  … and ${more} more rules, see: lodestone mapping preview ${dataset}` : ''
  const said = diagnostics.filter(({ severity }) => severity !== 'info')
  return described(file, said, dataset) + lines.slice(0, SHOWN).join('') + rest
}

function described(file: string, diagnostics: readonly Diagnostic[], dataset: string): string {
  const shown = diagnostics
    .slice(0, SHOWN)
    .map(diagnostic => `\n${diagnosticText(file, diagnostic).replace(/^/gm, '  ')}`)
  const more = diagnostics.length - SHOWN
  const rest = more > 0 ? `\n  … and ${more} more, see: lodestone mapping check ${dataset}` : ''
  return shown.join('') + rest
}

/** One rule in one line: what it created, what it left out and why, and an example. */
function ruleText(rule: RuleReport): string {
  const { resource, predicate, term, made: written, examples } = rule
  const example = examples.find(({ reason }) => reason !== 'null')
  const left = [
    ...leftOutTexts(rule),
    ...(example === undefined ? [] : [`e.g. ${JSON.stringify(example.text)} of record ${example.recordId}`]),
  ]
  return `${resource}, ${predicate} ${term}: ${written} triples${left.length === 0 ? '' : ` (${left.join(', ')})`}`
}
