import path from 'node:path'
import { Fault, faultText, placeText } from '../errors/errors.ts'
import { type Diagnostic, messageText } from '../mapping/diagnostic.ts'
import { shownAddress } from '../sources/address/failures.ts'
import { openSource } from '../sources/open.ts'
import { openRdf } from '../sources/rdf.ts'
import { fieldOf } from '../sources/typing/fields.ts'
import {
  conversionErrorsText,
  SHOWN_COLUMNS,
  type TypingReport,
  typeRecords,
} from '../sources/typing/typed-records.ts'
import { openAttachment } from './attachments.ts'
import { type Definition, definedDatasets, readDefinition } from './definition.ts'
import { checkRdf } from './graphs/rdf-quads.ts'
import { Identities } from './identity.ts'
import { ignoredData, ignoredLinks } from './implicit.ts'
import {
  checkMapping,
  ignoredMappingText,
  mappingFile,
  mappingFiles,
  refuseForRdf,
  unusedMappings,
} from './mapping/mapping-file.ts'
import {
  columnSetting,
  missingText,
  openRecords,
  placedFault,
  readingWarnings,
  resolveWhole,
  sourceName,
} from './materialise.ts'
import { lookupsToCome, refuseCycle } from './processors/dependencies.ts'
import { isFetched, type Remote } from './remote/refresh.ts'
import { remoteState } from './remote/state.ts'
import { StatisticsGatherer } from './statistics.ts'
import { suggestedDataset } from './suggested-dataset.ts'
import { isWithdrawn, publishedDatasets, type Versions } from './versions/versions.ts'

/** One finding about a dataset: an error prevents its publication, a warning describes what would be dropped. */
export interface CheckFinding {
  readonly dataset: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** The field with the faulty values, and their number. */
  readonly field?: string
  readonly count?: number
}

function warning(dataset: string, message: string): CheckFinding {
  return { dataset, severity: 'warning', message }
}

/** What publishing all datasets of a portal would refuse, drop, ignore or withdraw. */
export async function checkPortal(
  portal: string,
  base: string,
  versions: Versions,
): Promise<readonly CheckFinding[]> {
  const defined = definedDatasets(portal)
  const together = defined.filter(id => !isWithdrawn(versions, id))
  const findings: CheckFinding[] = []
  for (const id of defined) findings.push(...(await checkDataset(portal, base, id, together)))
  for (const { dataset, reason } of ignoredData(portal)) findings.push(warning(dataset, reason))
  const message =
    'its folder or file in data/ is gone: publishing without names withdraws it and deletes its versions'
  const links = ignoredLinks(portal)
  for (const dataset of publishedDatasets(versions))
    if (!defined.includes(dataset) && !links.has(dataset)) findings.push(warning(dataset, message))
  for (const file of unusedMappings(portal, defined)) {
    const name = path.basename(file)
    const id = name.slice(0, name.indexOf('.'))
    const suggestion = suggestedDataset(id, defined)
    const unused = `there is no dataset ${id}: nothing uses this mapping`
    findings.push(warning(`mappings/${name}`, suggestion === '' ? unused : `${unused}. ${suggestion}`))
  }
  return findings
}

/**
 * What publishing would refuse or drop of a dataset, which is published together with others, with file positions.
 *
 * @param home the portal of a draft, which has only its own dataset
 */
export async function checkDataset(
  portal: string,
  base: string,
  dataset: string,
  together: readonly string[] = [dataset],
  home = portal,
): Promise<readonly CheckFinding[]> {
  const { definition, problems, defects, warnings } = readDefinition(portal, dataset)
  const declared: CheckFinding[] = [
    ...[...problems, ...defects].map(problem => ({ ...problem, severity: 'error' as const })),
    ...warnings.map(problem => ({ ...problem, severity: 'warning' as const })),
  ].map(({ message, place, severity }) => ({ dataset, severity, message: placeText(place) + message }))
  declared.push(...ignoredMappings(portal, dataset))
  if (definition === null) return declared
  if (defects.length > 0) return [...declared, ...settingFindings(portal, definition)]
  return [...declared, ...(await checkDefinition(portal, base, definition, together, home))]
}

/** Errors of the source and its options, of a dataset whose fields or steps are invalid. */
function settingFindings(portal: string, definition: Definition): readonly CheckFinding[] {
  const { source, sourceFolder } = definition
  try {
    openSource(source, { datasetFolder: sourceFolder, portalFolder: portal })
    return []
  } catch (error) {
    return [faultFinding(error, definition)]
  }
}

function faultFinding(error: unknown, definition: Definition): CheckFinding {
  const fault = placedFault(error, definition)
  if (!(fault instanceof Fault)) throw fault
  return { dataset: definition.id, severity: 'error', message: faultText(fault) }
}

/** Why there are no data of an address, which publishing fetches; none if there are some. */
function unfetchedFindings(portal: string, dataset: string, remote: Remote): readonly CheckFinding[] {
  const state = remoteState(portal, dataset)
  if (isFetched(portal, dataset, remote) || (state !== null && state.url !== remote.url)) return []
  const reason = `${shownAddress(remote.url)}: It has not been fetched yet.\n  lodestone publish fetches it.`
  return [{ dataset, severity: 'error', message: state?.reason ?? reason }]
}

/** What publishing would refuse or drop of a dataset whose dataset.yaml is valid. */
async function checkDefinition(
  portal: string,
  base: string,
  definition: Definition,
  together: readonly string[],
  home: string,
): Promise<readonly CheckFinding[]> {
  const { id: dataset, remote } = definition
  const unfetched = remote === null ? [] : unfetchedFindings(portal, dataset, remote)
  if (unfetched.length > 0) return unfetched
  try {
    if (definition.rdf !== null) {
      const folders = { datasetFolder: definition.sourceFolder, portalFolder: portal }
      await checkRdf(openRdf(definition.source, folders, definition.rdf), { base, dataset })
      const refused = refuseForRdf(mappingFile(portal, dataset))
      return [...mappingFindings(dataset, refused), ...(await missingAttachments(portal, definition))]
    }
    refuseCycle(definition, home)
    const toCome = lookupsToCome(definition, portal, together)
    if (toCome.length > 0) return toCome.map(fault => warning(dataset, faultText(fault)))
    const resolved = await resolveWhole(definition, portal)
    const { fields: specs } = resolved
    const source = await openRecords(definition, resolved.source, portal)
    const name = sourceName(source.name, definition)
    const typed = typeRecords(source, specs)
    const fields = specs.map(fieldOf)
    const identities = new Identities(fields, definition.identity)
    const gatherer = new StatisticsGatherer(fields)
    for await (const batch of typed.batches())
      for (const values of batch.values) {
        identities.idOf(values)
        gatherer.add(values)
      }
    const findings: CheckFinding[] = [
      ...(definition.isImplicit ? [inferredFinding(dataset, definition.source.path ?? '')] : []),
      ...readingWarnings(resolved, source).map(found => warning(dataset, `${name}: ${found}`)),
      ...valueFindings(definition, name, typed.report()),
    ]
    if (identities.repeated > 0) findings.push(warning(dataset, `${name}: ${repeatedText(identities)}`))
    const file = mappingFile(portal, dataset)
    const mapped = { id: dataset, base, fields, statistics: gatherer.statistics() }
    if (file !== null) findings.push(...mappingFindings(dataset, { ...file, ...checkMapping(file, mapped) }))
    findings.push(...(await missingAttachments(portal, definition)))
    return findings
  } catch (error) {
    return [faultFinding(error, definition)]
  }
}

/** The first records whose fields of the identity, or all fields, have the values of an earlier one. */
function repeatedText({ repeated, repeats }: Identities): string {
  const named = repeats.map(([record, earlier]) => `record ${record} that of record ${earlier}`)
  const more = repeated > named.length ? ' …' : ''
  const records = repeated === 1 ? '1 record has' : `${repeated} records have`
  return `${records} the identity of another: ${named.join(', ')}${more}`
}

/** Columns that the source lacks or that no field reads, and values that do not fit the types of their fields. */
function valueFindings(
  definition: Definition,
  source: string,
  { misfits: conversionErrors, missing, unread }: TypingReport,
): readonly CheckFinding[] {
  const dataset = definition.id
  const placeOf = (field: string) => {
    const setting = columnSetting(definition, field)
    return setting === undefined ? {} : definition.placeOf(setting.split('.'))
  }
  return [
    ...missing.map(
      (column): CheckFinding => ({
        dataset,
        severity: 'error',
        message: `${placeText(placeOf(column.field))}${source}: ${missingText(column)}`,
      }),
    ),
    ...conversionErrors
      .filter(({ field }) => !missing.some(column => column.field === field))
      .map(of => ({
        ...warning(dataset, `${source}: ${conversionErrorsText(of)}`),
        field: of.field,
        count: of.count,
      })),
    ...(definition.fields === null || unread.length === 0 ? [] : [unreadFinding(dataset, source, unread)]),
  ]
}

/** Columns that a source may have been given after its fields were described. */
function unreadFinding(dataset: string, source: string, unread: readonly string[]): CheckFinding {
  const names = unread.slice(0, SHOWN_COLUMNS).map(column => JSON.stringify(column))
  const others = unread.length > names.length ? ` and ${unread.length - names.length} more` : ''
  const columns = unread.length === 1 ? 'the column' : 'the columns'
  return warning(dataset, `${source}: no field reads ${columns} ${names.join(', ')}${others}: not published`)
}

/** A dataset without a description is also published. */
function inferredFinding(dataset: string, file: string): CheckFinding {
  const message = `there is no dataset.yaml: ${file} is published with inferred types; lodestone import describes it in one`
  return warning(dataset, message)
}

/** The findings of a mapping; purely informational diagnostics are omitted. */
function mappingFindings(
  dataset: string,
  found: { readonly file: string; readonly diagnostics: readonly Diagnostic[] } | null,
): readonly CheckFinding[] {
  if (found === null) return []
  return found.diagnostics.flatMap(diagnostic => {
    const { severity, code, place, hint } = diagnostic
    if (severity === 'info') return []
    const message = messageText(diagnostic)
    const where = `${found.file}:${place.line}:${place.column}`
    const advice = hint === undefined ? '' : `${message.endsWith('.') ? '' : '.'} ${hint}`
    return [{ dataset, severity, message: `${where}: ${code}: ${message}${advice}` }]
  })
}

/** Further files of a mapping beside the one that is used. */
function ignoredMappings(portal: string, dataset: string): readonly CheckFinding[] {
  const [used = '', ...others] = mappingFiles(portal, dataset)
  return others.map(file => warning(dataset, ignoredMappingText(file, used)))
}

/** Attachments that would be listed although their files are missing. */
async function missingAttachments(portal: string, definition: Definition): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = []
  for (const [at, attachment] of definition.attachments.entries()) {
    const file = await openAttachment(portal, definition, attachment)
    await file?.close()
    if (file !== null) continue
    const where = placeText(definition.placeOf(['attachments', String(at), 'path']))
    const what = `the attachment ${attachment.path} is no file that can be read in the folder of the dataset`
    findings.push(warning(definition.id, where + what))
  }
  return findings
}
