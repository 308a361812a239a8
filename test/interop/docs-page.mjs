/**
 * axe-core looks at the docs page in a real browser: every panel after it was used, in light, in dark, and
 * as wide as a phone. Skips itself, and says so, where the package or the browser is not there.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { missing, root } from './start.mjs'

const built = `${root}.test/`
const isMissing = missing('axe-core')
const { absent, Browser } = isMissing ? {} : await import(`${built}test/fixtures/browser.js`)
const skip = isMissing || absent
if (skip) console.log(`docs-page: skipped: ${skip}`)

const { showcase, Gate } = skip ? {} : await import(`${built}test/fixtures/showcase.js`)
const { createServer } = skip ? {} : await import(`${built}lib/index.js`)

const views = [
  ['light', { width: 1400 }],
  ['dark', { width: 1400, isDark: true }],
  ['light on a phone', { width: 360, isPhone: true }],
  ['dark on a phone', { width: 360, isPhone: true, isDark: true }],
]

/** Those that come late would lie over the button in the moment in which it is clicked. */
const closeSuggestions = (page) => page.press('Escape')

/** Panels: [address, what is seen at the end, how it is used]. */
const panels = [
  ['agent/travel-guide', 'before)', async (page) => {
    await page.fill('Query', 'Where to?')
    await page.press('Enter')
  }],
  ['agent/hopeless', 'The office is closed.', async (page) => {
    await page.fill('Query', 'Help')
    await page.press('Enter')
  }],
  ['agent/booking-clerk', 'Which seat?', async (page) => {
    await page.choose('Sent over', 'A2A')
    await page.fill('Query', 'a train')
    await page.press('Enter')
  }],
  ['tool/plan_trip', 'passes 1', async (page) => {
    await page.click('button', 'Add to passes')
  }],
  ['resource/office://city/{name}', 'lies by the sea', async (page) => {
    await page.fill('name', 'Porto', 'combobox')
    await closeSuggestions(page)
    await page.click('button', 'Read')
  }],
  ['tool/find_trains', 'Three trains', async (page) => {
    await page.fill('to', 'Lisbon')
    await page.click('button', 'Run')
  }],
  ['tool/book_seat', 'Which seat?', async (page) => {
    await page.fill('train', 'IC 1')
    await page.click('button', 'Run')
  }],
  ['tool/show_ticket', 'Your ticket', (page) => page.click('button', 'Run')],
  ['tool/cancel_trip', 'it failed', (page) => page.click('button', 'Run')],
  ['resource/office://timetable', '08:10', (page) => page.click('button', 'Read')],
  ['prompt/postcard', 'Write to Ada', async (page) => {
    await page.fill('friend', 'Ada', 'combobox')
    await closeSuggestions(page)
    await page.fill('city', 'L', 'combobox')
    await page.isTrue(`document.querySelector('[role=listbox] [role=option]') !== null`)
    assert.deepEqual(await complaints(page), [], 'completions')
    await page.press('Escape')
    await page.click('button', 'Get')
  }],
  ['a2a', 'Which seat?', async (page) => {
    await page.sees('It speaks version 1.0')
    await page.choose('Agent', 'Booking Clerk')
    await page.sees('and asks which')
    await page.fill('Message', 'a train')
    await page.press('Enter')
    await page.sees('Which seat?')
    await page.click('button', 'List the tasks')
    await page.sees('Open')
  }],
  ['mcp', 'plan_trip', async (page) => {
    await page.choose('Example', 'tools/list')
    await page.click('button', 'Send')
  }],
  ['POST/agents/travel-guide', '200 OK', (page) => page.click('button', 'Send')],
  ['connect', 'claude mcp add', async () => {}],
  ['history', 'Again', async () => {}],
]

let server
let url
let axe
const browser = skip ? undefined : new Browser()
before(async () => {
  if (skip) return
  const gate = new Gate()
  gate.open(10_000)
  server = createServer({ log: false, graceMs: 0, ...showcase(gate) });
  ({ url } = await server.listen(0))
  axe = await readFile(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
})
after(async () => {
  await browser?.close()
  await server?.close()
})

/** Opens the page and loads axe-core, which the page's policy would not let in. */
async function openPage(t, view) {
  const page = await browser.open(t, `${url}/docs`, view, /status of 500/)
  await page.isTrue(`document.querySelector('main h2') !== null`)
  await page.send('Page.setBypassCSP', { enabled: true })
  await page.evaluate(axe)
  return page
}

/** What axe-core complains of: the rule, and where. */
function complaints(page) {
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => (
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | '))
  ))`)
}

test('axe: what is wrong is found', { skip, timeout: 120_000 }, async (t) => {
  const page = await openPage(t)
  await page.evaluate(`document.querySelector('main').append(new Image())`)
  assert.deepEqual(await complaints(page), ['image-alt: <img>'])
})

test('the sample for the SDK of MCP makes a call', {
  skip: skip || missing('@modelcontextprotocol/sdk'), timeout: 120_000,
}, async (t) => {
  const page = await browser.open(t, `${url}/docs#connect`)
  await page.sees('Your own MCP client')
  const samples = `[...document.querySelectorAll('pre')].map((one) => one.textContent)`
  const sample = (await page.evaluate(samples)).find((text) => text.includes('client.callTool('))
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', sample], {
    cwd: new URL('.', import.meta.url), timeout: 30_000,
  })
  assert.match(stdout, /content: \[/)
})

for (const [name, view] of views) {
  test(`axe: nothing is found in ${name}`, { skip, timeout: 300_000 }, async (t) => {
    const page = await openPage(t, view)
    for (const [hash, seen, use] of panels) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.isTrue(`current === ${JSON.stringify(hash)}`)
      await use(page)
      await page.sees(seen, 'section:not([hidden])')
      await page.evaluate(
        `document.querySelectorAll('section details').forEach((fold) => { fold.open = true })`,
      )
      assert.deepEqual(await complaints(page), [], `${hash} in ${name}`)
    }
    await page.click('button', 'API key')
    assert.deepEqual(await complaints(page), [], `the key in ${name}`)
    if (!view.isPhone) return
    await page.click('button', 'Menu')
    assert.deepEqual(await complaints(page), [], `the sidebar in ${name}`)
  })
}
