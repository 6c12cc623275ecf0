import { LANGUAGES } from '../../model/language.ts'
import type { MetaValue } from '../../model/metadata.ts'
import { messageKey } from '../../site/page-context.ts'

/** A metadata field of the desk's form. */
export interface MetadataField {
  readonly template: 'default' | 'dcat'
  readonly name: string
  /** In English: it is translated for display. */
  readonly label: string
  readonly kind: 'text' | 'list'
  readonly isLong: boolean
  /** Values of the vocabularies of DCAT-AP that are offered; others can be entered. */
  readonly options: readonly string[]
}

/** The themes of the EU's data theme vocabulary (DCAT-AP). */
const THEMES = [
  'Agriculture, fisheries, forestry and food',
  'Economy and finance',
  'Education, culture and sport',
  'Energy',
  'Environment',
  'Government and public sector',
  'Health',
  'International issues',
  'Justice, legal system and public safety',
  'Population and society',
  'Regions and cities',
  'Science and technology',
  'Transport',
]

const LICENSES = [
  'CC0 1.0',
  'CC BY 4.0',
  'CC BY-SA 4.0',
  'Open Licence v2.0',
  'ODbL 1.0',
  'ODC-By 1.0',
  'PDDL 1.0',
]
const FREQUENCIES = [
  'CONT',
  'HOURLY',
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'ANNUAL',
  'IRREG',
  'NEVER',
  'UNKNOWN',
]

function field(
  name: string,
  label: string,
  more: Partial<Pick<MetadataField, 'template' | 'kind' | 'isLong' | 'options'>> = {},
): MetadataField {
  return { template: 'default', name, label, kind: 'text', isLong: false, options: [], ...more }
}

export const METADATA: readonly MetadataField[] = [
  field('title', messageKey('Title')),
  field('description', messageKey('Description'), { isLong: true }),
  field('keyword', messageKey('Keyword'), { kind: 'list' }),
  field('theme', messageKey('Theme'), { kind: 'list', options: THEMES }),
  field('license', messageKey('Licence'), { options: LICENSES }),
  field('license_url', messageKey('Address of the licence')),
  field('publisher', messageKey('Publisher')),
  field('language', messageKey('Language'), { options: [...LANGUAGES].sort() }),
  field('accrualperiodicity', messageKey('Update frequency'), { template: 'dcat', options: FREQUENCIES }),
]

export function valueText(value: MetaValue | undefined): string {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) ? value.join('; ') : String(value)
}

/** The value of an entered text; null if it is empty. */
export function writtenValue({ kind }: Pick<MetadataField, 'kind'>, text: string): MetaValue | null {
  const whole = text.replaceAll('\r\n', '\n').trim()
  if (whole === '') return null
  if (kind === 'text') return whole
  return whole
    .split(';')
    .map(part => part.trim())
    .filter(part => part !== '')
}
