import type { Html } from '../../site/html.ts'

/** Data for a script of a page, as a block that does not run; the script finds it by its id. */
export function pageData(id: string, data: unknown): Html {
  const text = JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return { html: `<script type="application/json" id="${id}">${text}</script>` }
}
