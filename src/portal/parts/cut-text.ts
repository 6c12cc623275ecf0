/** A text of at most `max` code units: a longer one ends with an ellipsis, and never within a surrogate pair. */
export function cutText(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}
