/** A word of a text. */
export type WordOf<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | WordOf<Rest>
  : Text

/** The words of texts, each of its own type: a list without quotes and commas. */
export function words<const Text extends string>(...texts: readonly Text[]): readonly WordOf<Text>[] {
  return texts.flatMap(text => text.split(' ')) as WordOf<Text>[]
}
