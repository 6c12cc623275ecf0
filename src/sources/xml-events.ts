import { SaxesParser } from '@rubensworks/saxes'
import { lookup } from '../model/lookup.ts'
import { unreadable } from './source.ts'
import { decoderOf, encodingNamed } from './text/decode.ts'

/** The callbacks of an XML reader. Names are local, without prefix. */
export interface XmlListener {
  /** An element begins; the attributes by local name, without declarations of namespaces. */
  start(name: string, attributes: ReadonlyMap<string, string>): void
  /** Text, in pieces of any size. */
  text?(text: string): void
  end(name: string): void
}

/** Maximum depth of nested elements. */
const MAX_DEPTH = 500

/**
 * Reads an XML 1.0 document piece by piece. Nothing is fetched, and a document that declares entities is refused, because their
 * replacement may be of any size or location. Yields after each piece, so that results of the listener can be passed on. Throws
 * SourceUnreadable with line and column.
 */
export async function* readXml(
  pieces: AsyncIterable<Buffer>,
  file: string,
  listener: XmlListener,
): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: true })
  let depth = 0
  const place = () => ({ file, line: parser.line, column: parser.column + 1 })
  parser.on('error', error => {
    throw unreadable(
      `The XML is malformed: ${error.message.replace(/^\d+:\d+: /, '')}`,
      place(),
      'Mend it there, or write the file again with the program that made it.',
    )
  })
  parser.on('doctype', text => {
    if (/<!ENTITY/i.test(text))
      throw unreadable(
        'The document declares entities of its own, which are not read.',
        place(),
        'Save it without them.',
      )
  })
  parser.on('opentag', ({ name, attributes }) => {
    depth++
    if (depth > MAX_DEPTH)
      throw unreadable(
        `The elements are nested more than ${MAX_DEPTH} deep.`,
        place(),
        'Write the document with fewer levels.',
      )
    const local = new Map<string, string>()
    for (const key of Object.keys(attributes))
      if (!/^xmlns(?::|$)/.test(key)) local.set(localName(key), String(lookup(attributes, key)))
    listener.start(localName(name), local)
  })
  parser.on('closetag', ({ name }) => {
    depth--
    listener.end(localName(name))
  })
  if (listener.text !== undefined) {
    const heard = (text: string) => listener.text?.(text)
    parser.on('text', heard)
    parser.on('cdata', heard)
  }
  let decoder: { decode(bytes: Buffer): string; finish(): string } | undefined
  try {
    for await (const piece of pieces) {
      decoder ??= decoderOf(xmlEncoding(piece, file))
      parser.write(decoded(() => decoder?.decode(piece) ?? '', place))
      yield
    }
    if (decoder === undefined) return
    parser.write(decoded(() => decoder?.finish() ?? '', place))
    parser.close()
  } catch (error) {
    if (error instanceof RangeError)
      throw unreadable('An element of the XML is too large.', place(), 'Divide it into smaller ones.')
    throw error
  }
  yield
}

function decoded(decode: () => string, place: () => object): string {
  try {
    return decode()
  } catch (error) {
    if (error instanceof TypeError)
      throw unreadable(
        'The text is not of the encoding that the XML declares.',
        place(),
        'Write the file in the encoding that its first line names, or correct that line.',
        error,
      )
    throw error
  }
}

/** The name of an element without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** The encoding by byte order mark or declaration (XML 1.0, appendix F); UTF-8 by default. */
function xmlEncoding(head: Buffer, file: string): string {
  const [first, second] = head
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0x3c && second === 0) return 'utf-16le'
  if (first === 0 && second === 0x3c) return 'utf-16be'
  const declared = /^\ufeff?\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(
    head.subarray(0, 400).toString('utf8'),
  )?.[1]
  if (declared === undefined || /^us-ascii$/i.test(declared)) return 'utf-8'
  const encoding = encodingNamed(declared)
  if (encoding === undefined)
    throw unreadable(`The encoding ${declared} is not known.`, { file }, 'Save the file as UTF-8.')
  return encoding.startsWith('utf-16') ? 'utf-8' : encoding
}
