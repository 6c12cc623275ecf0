/** Decodes the bytes of one text, piece by piece. Throws TypeError for bytes that are invalid in the encoding. */
export interface Decoder {
  decode(bytes: Buffer): string
  finish(): string
}

/** The characters of windows-1252 from 0x80 to 0x9F (Encoding Standard, index windows-1252); TextDecoder of Node 20 lacks them. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** The upper halves of the code pages of DOS, which the Encoding Standard does not have. */
const DOS: Readonly<Record<'cp437' | 'cp850', string>> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
}

const LATIN_1 = ['latin1', 'iso88591', 'l1', 'windows1252', 'cp1252', 'ansi']

/**
 * The canonical name of an encoding in this project for a label: `utf-8`, `utf-16le`, `utf-16be`, `latin-1` (windows-1252, as in
 * the Encoding Standard), `macintosh`, `windows-1250`, `shift_jis` …; undefined for an unknown label.
 */
export function encodingNamed(name: string): string | undefined {
  const plain = name.toLowerCase().replace(/[-_ ]/g, '')
  if (plain === 'utf8') return 'utf-8'
  if (plain === 'utf16' || plain === 'utf16le') return 'utf-16le'
  if (LATIN_1.includes(plain)) return 'latin-1'
  if (['macroman', 'macosroman', 'xmacroman'].includes(plain)) return 'macintosh'
  if (['cp437', 'ibm437', 'dos437'].includes(plain)) return 'cp437'
  if (['cp850', 'ibm850', 'dos850'].includes(plain)) return 'cp850'
  if (!/^[\w:.-]{2,40}$/.test(name)) return undefined
  try {
    return new TextDecoder(plain.startsWith('cp125') ? `windows-${plain.slice(2)}` : name).encoding
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
    case 'cp437':
    case 'cp850': {
      const upper = DOS[encoding]
      return {
        decode: bytes =>
          bytes.toString('latin1').replace(/[\x80-\xff]/g, c => upper.charAt(c.charCodeAt(0) - 0x80)),
        finish: () => '',
      }
    }
    default: {
      const decoder = new TextDecoder(encoding, { fatal: true })
      return { decode: bytes => decoder.decode(bytes, { stream: true }), finish: () => decoder.decode() }
    }
  }
}
