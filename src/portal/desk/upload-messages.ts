import { type Html, html } from '../../site/html.ts'
import { messageKey, type Translator } from '../../site/page-context.ts'

/** Sentences of faults of files that publishers meet most, as the readers of files write them. */
export const UPLOAD_SENTENCES = [
  messageKey('Nothing was saved.'),
  messageKey('No file was chosen.'),
  messageKey('The file {name} is empty.'),
  messageKey('The file {name} has no records, so it has no fields.'),
  messageKey('The file has more than {limit} bytes, which is the limit of this portal (upload_limit).'),
  messageKey('The file is empty: it needs a header row.'),
  messageKey('The table is empty: it needs a header row.'),
  messageKey('Give it a row of names and a record below it.'),
  messageKey('The file is no text, and no format of data that is known.'),
  messageKey(
    'Save it as CSV, XLSX, ODS, JSON, GeoJSON, Parquet, GeoPackage or another format of the documentation.',
  ),
  messageKey('The file is a PDF.'),
  messageKey('Publish the table that it was made from.'),
  messageKey('The file is a web page.'),
  messageKey('Get the file that the page links to.'),
  messageKey('The file is a workbook of Excel before 2007, or encrypted.'),
  messageKey('Save it as .xlsx, without a password.'),
  messageKey('The file is a document of Office, and no workbook.'),
  messageKey('Save its table as CSV.'),
  messageKey('The ZIP archive has no list of its members: it is cut off or damaged.'),
  messageKey('Get the file again.'),
] as const

const PATTERNS = UPLOAD_SENTENCES.map(key => ({
  key,
  pattern: new RegExp(
    key.replaceAll(/[.()]/g, '\\$&').replace(/\{(\w+)\}/, (_, name: string) => `(?<${name}>[^\\n]+)`),
  ),
}))

/** The message of a fault on a page: sentences that are known in the language of the page, others in English and marked so. */
export function uploadMessage(message: string, t: Translator): Html {
  const shown = PATTERNS.reduce((text, { key, pattern }) => {
    const found = pattern.exec(text)
    return found === null ? text : text.replace(found[0], () => t(key, { ...found.groups }))
  }, message)
  return shown === message
    ? html`<p class="lines" lang="en" dir="ltr">${message}</p>`
    : html`<p class="lines">${shown}</p>`
}
