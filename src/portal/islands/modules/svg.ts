/** Creates an element of a drawing. */
export function svg(name: string, attributes: Readonly<Record<string, string>> = {}): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name) as SVGElement
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  return element
}
