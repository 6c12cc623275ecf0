import t from 'tap'
import { noBrowser, PEERS } from '../support/browser.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'

/** Going back to a form of the desk: the browser restores its input, which must not replace what others saved since. */
const portal = temporaryFolder(t, {
  'portal.yaml': '',
  data: {
    trees: {
      'dataset.yaml': 'source: { path: a.csv }\nmetas: { default: { title: Trees } }\n',
      'a.csv': 'nr,name\n1,Oak\n',
    },
  },
})

t.test(
  'input that a browser restores is of the text that it was entered for',
  {
    skip: noBrowser,
    timeout: 200_000,
  },
  async t => {
    const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
    const port = await freePort()
    const base = `http://localhost:${port}`
    const { app } = await servePortal(t, { portal, base, port, isPublished: false })
    const { id } = await app.accounts.users.add('anna', 'a password that is long enough')
    await app.accounts.users.grant('anna', 'publish:*')
    const browser = await startBrowser()
    t.teardown(() => browser.close())
    const url = `${base}/desk/trees/description/`
    const title = '[name="default.title"]'
    for (const javaScriptEnabled of [true, false]) {
      const { token } = await app.accounts.sessions.begin(id)
      const context = await browser.newContext({ javaScriptEnabled, locale: 'en' })
      await context.addCookies([{ name: 'lodestone-session', value: token, url: base }])
      const [mine, other] = [await context.newPage(), await context.newPage()]
      const save = async (page: typeof mine) => {
        await page.locator(`form:has(${title}) button`).click()
        await page.waitForLoadState()
      }
      const change = async (page: typeof mine, text: string) => {
        await page.goto(url)
        await page.fill(title, text)
        await save(page)
      }
      await change(mine, `Mine ${javaScriptEnabled}`)
      await change(other, `Other ${javaScriptEnabled}`)
      await mine.goBack()
      t.equal(await mine.inputValue(title), `Mine ${javaScriptEnabled}`, 'the browser restores the input')
      t.match(await mine.textContent('main'), 'This was changed after the page was opened.')
      await save(mine)
      t.match(await mine.textContent('main'), 'Somebody changed this dataset after you opened the form.')
      t.equal(await mine.inputValue(title), `Mine ${javaScriptEnabled}`, 'nothing that was entered is lost')
      await other.goto(url)
      t.equal(await other.inputValue(title), `Other ${javaScriptEnabled}`, 'nor what the other saved')
      await save(mine)
      await other.goto(url)
      t.equal(await other.inputValue(title), `Mine ${javaScriptEnabled}`, 'saved again, it is replaced')
      await context.close()
    }
  },
)
