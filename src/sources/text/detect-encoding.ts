import { isAscii, isUtf8 } from 'node:buffer'
import { decoderOf } from './decode.ts'

/** Bytes around non-ASCII bytes that are examined, and the maximum number of all. */
const AROUND = 24
const MAX_SAMPLE = 65_536

/** Bytes at the beginning in which UTF-16 is recognised. */
const HEAD = 4096

/** The letters of an alphabet by their scores: common ones 2, possible ones 0.6. */
interface Alphabet {
  readonly common: string
  readonly possible: string
}

const WESTERN: Alphabet = {
  common: 'éèàçêôîâûëïùüöäßñáíóúãõåøæœÉÈÀÇÊÜÖÄÑÁÍÓÚÅØ',
  possible: 'ìòýðþÿÎÔÂÛËÏÙÃÕÆŒÌÒÝÐÞšžŠŽ',
}

/** A script without Latin letters: its letters 1, common ones 2, and pairs that no word has. */
interface Script {
  readonly script: RegExp
  readonly common: RegExp
  readonly impossible?: RegExp
}

const CYRILLIC: Script = { script: /\p{Script=Cyrillic}/u, common: /[оеаинтсрвлкмдпуя]/i }
const GREEK: Script = { script: /\p{Script=Greek}/u, common: /[αοιετσνηυρπκμλω]/i }
const HEBREW: Script = { script: /[א-ת]/, common: /[א-ת]/, impossible: /[םןץףך][א-ת]/ }
const ARABIC: Script = {
  script: /[\p{Script=Arabic}،؛؟ـ]/u,
  common: /[ابةتدرسعلمنهوي]/,
  impossible: /[ةى][ء-ي]/,
}
const THAI: Script = {
  script: /[ก-ฺเ-๎]/,
  common: /[กงดตทนบปมยรลวสหอะัาิีเ่้]/,
  impossible:
    /[^ก-ฮ][\u0e31\u0e34-\u0e3a\u0e47\u0e4d\u0e4e]|[^ก-ฮ\u0e31\u0e34-\u0e39][\u0e48-\u0e4c]|[เ-ไ][^ก-ฮ]/,
}

const CANDIDATES: readonly (readonly [encoding: string, alphabet: Alphabet | Script | 'cjk'])[] = [
  ['latin-1', WESTERN],
  ['macintosh', WESTERN],
  ['cp850', WESTERN],
  [
    'windows-1250',
    { common: 'ąćęłńóśźżáčďéěíňřšťúůýžőűäöüĄĆĘŁŃÓŚŹŻČŘŠŽ', possible: 'ôĺľŕăâîşţđÁÉÍÚÝĎŇŤŮÔÖÜĂÂÎŞŢĐç' },
  ],
  ['iso-8859-2', { common: 'ąćęłńóśźżáčďéěíňřšťúůýžőűäöüĄĆĘŁŃÓŚŹŻČŘŠŽ', possible: 'ôĺľŕăâîşţđÁÉÍÚÝĎŇŤŮÔÖÜ' }],
  ['windows-1254', { common: 'ğşıçöüİĞŞÇÖÜ', possible: 'âîû' }],
  ['windows-1257', { common: 'õäöüšžāčēīļņūėęįųąÕÄÖÜŠŽĀČĒĪĖĮŲĄ', possible: 'ģķŗōĢĶĻŅŪĘ' }],
  ['windows-1251', CYRILLIC],
  ['koi8-r', CYRILLIC],
  ['ibm866', CYRILLIC],
  ['windows-1253', GREEK],
  ['windows-1255', HEBREW],
  ['windows-1256', ARABIC],
  ['windows-874', THAI],
  ['shift_jis', 'cjk'],
  ['euc-jp', 'cjk'],
  ['gb18030', 'cjk'],
  ['big5', 'cjk'],
  ['euc-kr', 'cjk'],
]

/** Collects evidence for the encoding of a text from all its bytes: the non-ASCII ones and their neighbours. */
export class EncodingSample {
  private readonly pieces: Buffer[] = []
  private length = 0
  /** The first bytes, at most HEAD. */
  private head: Buffer = Buffer.alloc(0)

  /** True once the sample is large enough. */
  get isFull(): boolean {
    return this.length >= MAX_SAMPLE
  }

  add(chunk: Buffer): void {
    if (this.head.length < HEAD)
      this.head = Buffer.concat([this.head, chunk.subarray(0, HEAD - this.head.length)])
    if (isAscii(chunk)) return
    for (let i = 0; i < chunk.length && !this.isFull; ) {
      if ((chunk[i] as number) < 0x80) {
        i++
        continue
      }
      let end = i
      for (let gap = 0; end < chunk.length && gap < AROUND; end++)
        gap = (chunk[end] as number) < 0x80 ? gap + 1 : 0
      const piece = chunk.subarray(Math.max(0, i - AROUND), end)
      this.pieces.push(Buffer.from(piece), Buffer.from('\n'))
      this.length += piece.length + 1
      i = end
    }
  }

  /** True once non-ASCII bytes were found. */
  get hasOthers(): boolean {
    return this.pieces.length > 0
  }

  /** True as long as the non-ASCII bytes are valid UTF-8. */
  get isUtf8(): boolean {
    return !this.head.includes(0) && isUtf8(Buffer.concat(this.pieces.map(withoutCut)))
  }

  /**
   * The most probable encoding of the bytes; utf-8 if they are valid.
   *
   * @param bonus score of the encoding that is the most frequent one in such files: it counts more the fewer bytes there are
   */
  encoding(bonus = 0.6): string {
    const wide = utf16Of(this.head)
    if (wide !== undefined) return wide
    if (this.pieces.length === 0 || this.isUtf8) return 'utf-8'
    const sample = Buffer.concat(this.pieces)
    // Some invalid bytes in UTF-8 are to be reported, not interpreted in another encoding: texts in others are hardly ever valid UTF-8.
    const text = new TextDecoder().decode(sample)
    const wrong = text.match(/\ufffd/g)?.length ?? 0
    const right = text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0
    if (wrong * 2 < right) return 'utf-8'
    let best = { encoding: 'latin-1', score: Number.NEGATIVE_INFINITY }
    for (const [encoding, alphabet] of CANDIDATES) {
      const score = scoreOf(sample, encoding, alphabet, encoding === 'latin-1' ? bonus : 0)
      if (score > best.score + 0.05) best = { encoding, score }
    }
    return best.encoding === 'latin-1' && hasLatin9Euro(sample) ? 'iso-8859-15' : best.encoding
  }
}

/** True if the sign of no currency stands at amounts, where ISO 8859-15 has the euro, and no byte is a letter or sign of windows-1252 alone. */
function hasLatin9Euro(sample: Buffer): boolean {
  const text = sample.toString('latin1')
  return /\d ?\xa4|\xa4 ?\d/.test(text) && !/[\x80-\x9f\xbc-\xbe]/.test(text)
}

/**
 * The order of bytes of a text in UTF-16 without byte order mark; undefined for other bytes. A NUL is the high byte of an ASCII
 * character: of most in Latin script, of separators and line ends in others.
 */
export function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const nulls = [0, 0] as [even: number, odd: number]
  for (let i = 0; i < head.length; i++) if (head[i] === 0) nulls[i % 2 === 0 ? 0 : 1]++
  const [even, odd] = nulls
  if (odd > head.length / 4 && even < head.length / 50) return 'utf-16le'
  if (even > head.length / 4 && odd < head.length / 50) return 'utf-16be'
  if (odd > head.length / 100 && even === 0 && isUtf16(head, 1)) return 'utf-16le'
  return even > head.length / 100 && odd === 0 && isUtf16(head, 0) ? 'utf-16be' : undefined
}

/**
 * True if bytes with some NULs are UTF-16: most of their line ends have a high byte of zero, and no character is a control character or an
 * unpaired surrogate. Line ends of other texts with NULs are next to letters.
 */
function isUtf16(head: Buffer, high: 0 | 1): boolean {
  const bytes = head.subarray(0, head.length & ~1)
  const text = new TextDecoder(high === 1 ? 'utf-16le' : 'utf-16be').decode(bytes)
  const lineEnds = text.match(/[\n\r]/g)?.length ?? 0
  let found = 0
  for (let low = 1 - high; low < bytes.length; low += 2)
    if (bytes[low] === 0x0a || bytes[low] === 0x0d) found++
  if (lineEnds * 2 < found || (lineEnds === 0 && /[\n\r]/.test(bytes.toString('latin1')))) return false
  // The last character may be cut.
  return !/[^\P{Cc}\t\n\r]|\ufffd/u.test(text.slice(0, -1))
}

/** A piece without leading continuation bytes and without an incomplete character at its end. */
function withoutCut(piece: Buffer): Buffer {
  let from = 0
  while (from < 3 && ((piece[from] ?? 0) & 0xc0) === 0x80) from++
  for (let back = 1; back <= 3 && back < piece.length; back++) {
    const byte = piece[piece.length - back] as number
    if ((byte & 0xc0) !== 0x80)
      return byte >= 0xc0 ? piece.subarray(from, piece.length - back) : piece.subarray(from)
  }
  return piece.subarray(from)
}

function scoreOf(
  sample: Buffer,
  encoding: string,
  alphabet: Alphabet | Script | 'cjk',
  bonus: number,
): number {
  let text: string
  try {
    text = alphabet === 'cjk' ? decodedWhole(sample, encoding) : decoderOf(encoding).decode(sample)
  } catch {
    return Number.NEGATIVE_INFINITY
  }
  const isEstonian = encoding === 'windows-1257'
  // Hungarian always has á and é: ő alone is the õ of another alphabet.
  let score = /[őŐ]/.test(text) && !/[áéÁÉ]/.test(text) ? -1000 : 0
  let count = 0
  const characters = [...text]
  characters.forEach((character, i) => {
    if (character < '\x80') return
    count++
    const before = characters[i - 1] ?? ' '
    const after = characters[i + 1] ?? ' '
    score +=
      alphabet === 'cjk'
        ? cjkScore(character, before, after)
        : 'script' in alphabet
          ? scriptScore(character, before, after, alphabet)
          : latinScore(character, before, after, alphabet) + (isEstonian && /[õÕ]/.test(character) ? 3 : 0)
  })
  if (count === 0) return Number.NEGATIVE_INFINITY
  // Few letters are unlikely to be a word of another script.
  score += bonus
  return score / count - ((alphabet !== 'cjk' && 'possible' in alphabet) || count > 4 ? 0 : 1)
}

/** Decodes a sample whose pieces may begin within a two-byte character: up to 2 % of invalid characters are tolerated. */
function decodedWhole(sample: Buffer, encoding: string): string {
  const decoder = new TextDecoder(encoding)
  const text = decoder.decode(sample)
  const wrong = text.match(/\ufffd/g)?.length ?? 0
  if (wrong > text.length / 50) throw new TypeError('not of the encoding')
  return text
}

/** The most frequent characters of Chinese and Japanese, the latter of names and places. */
const HAN =
  '的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两長东京県市区町村大阪北海島台湾臺灣區縣' +
  '東西南北都道府郡字丁目番号名山川田木林森石原井口野内外高橋谷沢岡崎津浜浦池藤佐伊加鈴渡辺斎清水久保安永福富坂浅古新平昭令住所電話郵便施設校園館民図書病院医駅線車路河港空岸火災防難場世帯男女計総数円金額価格料理店社株式業産工商農課部局員者氏点緯度経備考種類別分月曜間市長' +
  '编称址类型态单期份产格广女城街园医价额数据业'

/** The most frequent syllables of Korean: nine of ten in its texts, and one of ten in the table of EUC-KR, where other encodings hit. */
const HANGUL =
  '이다는의을에가하고지은로사기를리자시어대인도서한스나그해정아일보전수부제라과원상장주구들것으있공동국성안여연유비경조신선명소양용무문산미만세관개화당면오마물방발진반니중계행단위적생학교회모간체거건광남북노두등련령론류률매목민박배백번법변별병복본분불삼새색석설속송순술습식실심십씨않았약언없역예와왕요우운울월음응입작재저점종죄준줄증직질집차참창책처천철청초촌총최추축출충치친카코크타탁태터토통트특파판평포표품프피필할함합항향허험현형호혼환활황효후흥희김강윤임읍군길번호름값게네더데됐된될또며버습니까'

const LETTER = /[\p{L}\p{M}]/u
const LOWER = /\p{Ll}/u
const UPPER = /\p{Lu}/u
const CONTROL = /[\u0080-\u009f\ufffd]/
const NO_BREAK_SPACE = '\u00a0'
const SHORT_WORDS = 'àáâåæèéêìíîòóôöøü'
const WORD_SIGNS = '’‘·-'
const SIGNS = `«»“”„–—…€°²³ªº§£•©®™½¼±µ×¿¡${NO_BREAK_SPACE}`

function latinScore(
  character: string,
  before: string,
  after: string,
  { common, possible }: Alphabet,
): number {
  if (CONTROL.test(character)) return -6
  if (!LETTER.test(character) || SIGNS.includes(character)) {
    if (character === NO_BREAK_SPACE) return 0.6
    const isWithin = LETTER.test(before) && LETTER.test(after)
    if (WORD_SIGNS.includes(character)) return isWithin ? 1.2 : 0.2
    if (isWithin) return -4
    return SIGNS.includes(character) ? 0.6 : -2
  }
  let score = common.includes(character) ? 2 : possible.includes(character) ? 0.6 : -1.5
  // Digits are next to spaces and signs, not to letters.
  if (/\d/.test(before) || /\d/.test(after)) score -= 3
  // In Portuguese it precedes e; elsewhere it is more often a misread Hungarian ő.
  if (character === 'õ' && after !== 'e') score -= 3
  // Signs of other encodings, such as the pound and the section sign, are letters alone here.
  if (!LETTER.test(before + after) && !SHORT_WORDS.includes(character)) score -= 1.5
  if (UPPER.test(character) && LOWER.test(before)) score -= 4
  if (UPPER.test(character) && LOWER.test(after) && LETTER.test(before)) score -= 2
  if (LOWER.test(character) && UPPER.test(before) && UPPER.test(after)) score -= 3
  if (before >= '\x80' && LETTER.test(before) && !/[çÇ]/.test(before)) score -= 1.5
  return score
}

function scriptScore(
  character: string,
  before: string,
  after: string,
  { script, common, impossible }: Script,
): number {
  if (CONTROL.test(character)) return -6
  if (!script.test(character)) return SIGNS.includes(character) || WORD_SIGNS.includes(character) ? 0.3 : -3
  let score = common.test(character) ? 2 : 1
  if (impossible?.test(before + character)) score -= 4
  if (UPPER.test(character) && LOWER.test(before)) score -= 4
  // Signs of other encodings, such as those of the euro and the pound, are letters alone here.
  if (!LETTER.test(before + after) && !/[авикосуяηο]/.test(character)) score -= 1.5
  if (/[a-z]/i.test(before) || /[a-z]/i.test(after)) score -= 3
  return score
}

function cjkScore(character: string, before: string, after: string): number {
  if (CONTROL.test(character)) return -4
  if (/[a-z]/i.test(before) || /[a-z]/i.test(after)) return -3
  if (/[\p{Script=Hiragana}\p{Script=Katakana}ー]/u.test(character) && !/[\uff61-\uff9f]/.test(character))
    return 2.4
  if (/\p{Script=Hangul}/u.test(character)) return HANGUL.includes(character) ? 2.3 : 0.8
  if (HAN.includes(character)) return 2.2
  if (/[\u4e00-\u9fff]/.test(character)) return 1
  if (/[\u3000-\u303f\uff00-\uff60]/.test(character)) return 1
  return -2
}
