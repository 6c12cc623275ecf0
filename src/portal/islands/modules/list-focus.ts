/**
 * Lists whose choice leads to the next page at once. There the list has the focus again, for arrow keys go through it one
 * by one.
 */

const KEY = 'list'

/** Leads to the next page by a choice of a list. */
export function leaveBy(list: HTMLSelectElement, go: () => void): void {
  go()
  sessionStorage.setItem(KEY, list.name)
}

/** Gives the list of a form that led to this page the focus. */
export function focusList(form: HTMLFormElement | null | undefined): void {
  if (!form) return
  const name = sessionStorage.getItem(KEY)
  if (name === null) return
  sessionStorage.removeItem(KEY)
  form.querySelector<HTMLSelectElement>(`select[name="${CSS.escape(name)}"]`)?.focus()
}
