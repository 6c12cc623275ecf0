/** A name with its percent-encoded characters decoded; the name itself if they are no UTF-8. */
export function readableName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
