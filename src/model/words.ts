/** A word of a text. */
export type Word<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | Word<Rest>
  : Text

/** The words of texts, each of its own type: a list without quotes and commas. */
export function words<const Text extends string>(...texts: readonly Text[]): readonly Word<Text>[] {
  return texts.flatMap(text => text.split(' ')) as Word<Text>[]
}
