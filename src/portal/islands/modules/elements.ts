type Attributes = Readonly<Record<string, string>>
type Children = readonly (Node | string)[]

/** Creates an element with attributes and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Children
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children)
}

/** Creates an element of a drawing. */
export function svg(name: string, attributes: Attributes = {}, ...children: Children): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name) as SVGElement
  return filled(element, attributes, children)
}

function filled<Made extends Element>(element: Made, attributes: Attributes, children: Children): Made {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}
