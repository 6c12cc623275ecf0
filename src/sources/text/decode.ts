import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FaultPlace } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { unreadable } from '../source.ts'

/** Decodes the bytes of one text, piece by piece. Throws TypeError for bytes that are invalid in the encoding. */
interface Decoder {
  decode(bytes: Buffer): string
  finish(): string
}

/** The characters of windows-1252 from 0x80 to 0x9F (Encoding Standard, index windows-1252); TextDecoder of Node 20 lacks them. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** The upper halves of the code pages of DOS, which the Encoding Standard does not have. */
const DOS: ReadonlyMap<string, string> = new Map([
  [
    'cp437',
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ],
  [
    'cp737',
    'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u00a0',
  ],
  [
    'cp775',
    'ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀ÓßŌŃõÕµńĶķĻļņĒŅ’\u00ad±“¾¶§÷„°∙·¹³²■\u00a0',
  ],
  [
    'cp850',
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  ],
  [
    'cp852',
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  ],
  [
    'cp855',
    'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0',
  ],
  [
    'cp857',
    'ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\u00ad±\ufffd¾¶§÷¸°¨·¹³²■\u00a0',
  ],
  [
    'cp860',
    'ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ],
  [
    'cp861',
    'ÇüéâäàåçêëèÐðÞÄÅÉæÆôöþûÝýÖÜø£Ø₧ƒáíóúÁÍÓÚ¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ],
  [
    'cp863',
    'ÇüéâÂà¶çêëèïî‗À§ÉÈÊôËÏûù¤ÔÜ¢£ÙÛƒ¦´óú¨¸³¯Î⌐¬½¼¾«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ],
  [
    'cp865',
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ],
])

/** Code pages by the numbers that Windows and DOS give them, where the Encoding Standard has them under another name. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ['866', 'ibm866'],
  ['874', 'windows-874'],
  ['932', 'shift_jis'],
  ['936', 'gb18030'],
  ['949', 'euc-kr'],
  ['950', 'big5'],
  ['10000', 'macintosh'],
  ['10007', 'x-mac-cyrillic'],
  ['20866', 'koi8-r'],
  ['21866', 'koi8-u'],
  ['51932', 'euc-jp'],
  ['54936', 'gb18030'],
  ['65001', 'utf-8'],
])

const LATIN_1 = ['latin1', 'iso88591', 'l1', 'windows1252', 'cp1252', 'ansi1252', 'ansi']

/**
 * The canonical name of an encoding in this project for a label: `utf-8`, `utf-16le`, `utf-16be`, `utf-32le`, `utf-32be`, `latin-1`
 * (windows-1252, as in the Encoding Standard), `macintosh`, `windows-1250`, `shift_jis` …; undefined for an unknown label.
 */
export function encodingNamed(name: string): string | undefined {
  const plain = name.toLowerCase().replace(/[-_ ]/g, '')
  if (plain === 'utf8') return 'utf-8'
  if (plain === 'utf16' || plain === 'utf16le') return 'utf-16le'
  if (plain === 'utf32' || plain === 'utf32le') return 'utf-32le'
  if (plain === 'utf32be') return 'utf-32be'
  if (LATIN_1.includes(plain)) return 'latin-1'
  if (['macroman', 'macosroman', 'xmacroman'].includes(plain)) return 'macintosh'
  const page = /^(?:ansi|cp|dos|ibm|ms|oem|windows)(\d{3,5})$/.exec(plain)?.[1] ?? ''
  if (DOS.has(`cp${page}`)) return `cp${page}`
  const label = PAGES.get(page) ?? (page.startsWith('125') ? `windows-${page}` : name)
  if (!/^[\w:.-]{2,40}$/.test(label)) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

/** A decoder for an encoding as named by {@link encodingNamed}. */
export function decoderOf(encoding: string): Decoder {
  switch (encoding) {
    case 'latin-1':
      return {
        decode: bytes =>
          bytes.toString('latin1').replace(/[\x80-\x9f]/g, c => WINDOWS_1252.charAt(c.charCodeAt(0) - 0x80)),
        finish: () => '',
      }
    case 'utf-32le':
    case 'utf-32be':
      return utf32Decoder(encoding === 'utf-32be')
    default: {
      const upper = DOS.get(encoding)
      if (upper !== undefined)
        return {
          decode: bytes =>
            bytes.toString('latin1').replace(/[\x80-\xff]/g, c => upper.charAt(c.charCodeAt(0) - 0x80)),
          finish: () => '',
        }
      const decoder = new TextDecoder(encoding, { fatal: true })
      return { decode: bytes => decoder.decode(bytes, { stream: true }), finish: () => decoder.decode() }
    }
  }
}

/** The encoding that the byte order mark at the start of a text denotes; undefined without one of UTF-16 or UTF-32. */
export function markedEncoding(head: Buffer): string | undefined {
  const [first, second, third, fourth] = head
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? 'utf-32le' : 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0 && second === 0 && third === 0xfe && fourth === 0xff ? 'utf-32be' : undefined
}

/** A decoder of UTF-32, which the Encoding Standard lacks; it drops the byte order mark, as those of TextDecoder do. */
function utf32Decoder(isBig: boolean): Decoder {
  let rest: Buffer = Buffer.alloc(0)
  let isStart = true
  return {
    decode(piece) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const end = bytes.length - (bytes.length % 4)
      rest = bytes.subarray(end)
      let text = ''
      for (let at = 0; at < end; at += 4) {
        const code = isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new TypeError('not of the encoding')
        if (!isStart || code !== 0xfeff) text += String.fromCodePoint(code)
        isStart = false
      }
      return text
    },
    finish() {
      if (rest.length > 0) throw new TypeError('an incomplete character')
      return ''
    },
  }
}

/** Maximum decompressed size of a file in bytes. */
const MAX_UNPACKED = 64 * 2 ** 30
/** Decompressed bytes above which a file must not exceed a maximum compression ratio, which regular data never do. */
const SUSPICIOUS = 2 ** 27
const MAX_RATIO = 300

/** Throws SourceUnreadable where bytes unpack to more than honest data do. */
export function refuseBomb(unpacked: number, packed: number, place: FaultPlace): void {
  if (unpacked > MAX_UNPACKED || (unpacked > SUSPICIOUS && unpacked > packed * MAX_RATIO))
    throw unreadable(
      `The packed data unpack to more than ${unpacked} bytes from ${packed}: they are refused as a bomb.`,
      place,
      'Publish the unpacked file, if it is honest.',
    )
}

/**
 * Decompresses pieces of bytes. Throws SourceUnreadable for damaged data and for a decompressed size beyond the limits: a
 * decompression bomb.
 *
 * @param unpacker a stream of zlib
 */
export async function* boundedStream(
  packed: AsyncIterable<Buffer>,
  unpacker: Transform,
  place: FaultPlace,
): AsyncGenerator<Buffer> {
  let read = 0
  async function* counted() {
    for await (const piece of packed) {
      read += piece.length
      yield piece
    }
  }
  const input = Readable.from(counted(), { objectMode: true, highWaterMark: 1 })
  let unpacked = 0
  const done = ignoreRejection(pipeline(input, unpacker), 'whoever reads the output gets it')
  try {
    for await (const piece of unpacker as AsyncIterable<Buffer>) {
      unpacked += piece.length
      refuseBomb(unpacked, read, place)
      yield piece
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error
    const reason = code === 'Z_BUF_ERROR' ? 'the packed data end too soon' : 'the packed data are damaged'
    throw unreadable(`The file cannot be read: ${reason}.`, place, 'Get the file again.', error)
  } finally {
    input.destroy()
    unpacker.destroy()
    await done
  }
}
