import { type HighlightToken, highlightTokens } from '../../parts/highlight.ts'

/**
 * Highlights the text of a field: the visible text lies behind the field, whose own letters are transparent, so that the
 * field is unchanged for keyboards, screen readers and programs.
 */
export class CodePaint {
  private readonly field: HTMLTextAreaElement
  private readonly paint: HTMLElement
  private bad: number | null = null

  constructor(field: HTMLTextAreaElement, paint: HTMLElement) {
    this.field = field
    this.paint = paint
    field.addEventListener('input', () => {
      this.bad = null
      field.removeAttribute('aria-invalid')
      this.draw()
    })
    field.parentElement?.classList.add('painted')
    this.draw()
  }

  /** Marks the position of a fault; null for none. */
  mark(offset: number | null): void {
    this.bad = offset
    if (offset === null) this.field.removeAttribute('aria-invalid')
    else this.field.setAttribute('aria-invalid', 'true')
    this.draw()
  }

  draw(): void {
    let at = 0
    const pieces = highlightTokens(this.field.value, 'sparql').map(token => {
      const from = at
      at += token.text.length
      const isBad = this.bad !== null && this.bad >= from && this.bad < at
      return pieceOf(token, isBad)
    })
    // An empty line has no height without a character.
    this.paint.replaceChildren(...pieces, '\n')
  }
}

function pieceOf({ kind, text }: HighlightToken, isBad: boolean): Node | string {
  if (!isBad && kind === 'plain') return text
  const piece = document.createElement('span')
  piece.className = `t-${kind}${isBad ? ' t-bad' : ''}`
  piece.textContent = text
  return piece
}
