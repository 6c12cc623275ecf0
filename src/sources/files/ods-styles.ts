/** A sheet of a workbook. */
export interface OdsSheet {
  readonly name: string
  readonly isHidden: boolean
}

/** The styles that hide sheets (ODF 1.3, part 3, 19.620); they precede the sheets. */
export class TableStyles {
  private readonly hidden = new Set<string>()
  private style = ''

  start(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === 'style') this.style = attributes.get('name') ?? ''
    if (name === 'table-properties' && attributes.get('display') === 'false') this.hidden.add(this.style)
  }

  /** The sheet that begins with these attributes of its element. */
  sheet(attributes: ReadonlyMap<string, string>): OdsSheet {
    return {
      name: attributes.get('name') ?? '',
      isHidden: this.hidden.has(attributes.get('style-name') ?? ''),
    }
  }
}
