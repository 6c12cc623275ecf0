/** Tables that fit need no scroll container: then their headers stay in view while the page is scrolled. */
for (const scroll of document.querySelectorAll<HTMLElement>('.records-scroll')) {
  const table = scroll.querySelector('table')
  if (table === null) continue
  const settle = () => {
    const fits = table.scrollWidth <= scroll.clientWidth
    scroll.classList.toggle('fits', fits)
    scroll.tabIndex = fits ? -1 : 0
  }
  new ResizeObserver(settle).observe(scroll)
  settle()
}

export {}
