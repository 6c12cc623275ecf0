const WHITE_SPACE = /\p{White_Space}/u

/** A text without the white space of Unicode at its ends. Unlike trim() of ECMAScript it leaves U+FEFF, which is no white space. */
export function withoutOuterSpace(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && WHITE_SPACE.test(text.charAt(from))) from++
  while (to > from && WHITE_SPACE.test(text.charAt(to - 1))) to--
  return text.slice(from, to)
}
