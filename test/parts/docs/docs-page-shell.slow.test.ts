import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { Browser, absent } from '../../fixtures/browser.ts'
import { eventually, listen, serve } from '../../fixtures/client.ts'
import { Gate, showcase } from '../../fixtures/showcase.ts'
import { hostEntry, hostFlag, mcpHosts, tomlTable } from '../../../lib/floors/hosts/mcp-hosts.ts'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Page, View } from '../../fixtures/browser.ts'
import type { ServerOptions } from '../../../lib/index.ts'

/** What stands around the things of the docs page, in a browser. */
const options = { skip: absent, timeout: 120_000 }
const browser = new Browser()
after(() => browser.close())

const places: readonly string[] = [
  'agent/travel-guide', 'tool/plan_trip', 'resource/office://timetable', 'prompt/postcard', 'a2a', 'mcp',
  'connect', 'history', 'POST/agents/travel-guide', 'POST/v1/chat/completions', 'GET/health',
]

/** Where and how the page is opened, what the server has besides, and what may go wrong in the page. */
interface Place {
  readonly hash?: string
  readonly view?: View
  readonly more?: ServerOptions
  readonly expected?: RegExp
}

async function office(
  t: TestContext, { hash = '', view, more, expected }: Place = {},
): Promise<{ page: Page; url: string }> {
  const gate = new Gate()
  gate.open(100)
  const { url } = await listen(t, { ...showcase(gate), ...more })
  const page = await browser.open(t, `${url}/docs${hash}`, view, expected)
  await page.isTrue(`document.querySelector('#health').className !== ''`)
  return { page, url }
}

const heading = (page: Page, text: string): Promise<void> => (
  page.isTrue(`document.querySelector('section:not([hidden]) h2')?.textContent === ${JSON.stringify(text)}`)
)

/** Goes through the page by its links, without loading it again. */
async function walk(page: Page, look: (place: string) => Promise<void>): Promise<void> {
  for (const place of places) {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
    await page.isTrue(`current === ${JSON.stringify(place)}`)
    await look(place)
  }
}

test('the header tells name, version and health', options, async (t) => {
  const { page } = await office(t)
  assert.match(await page.text('header'), /Travel Office\s+2\.1\.0\s+up/)
  await page.isTrue(`document.title === 'Travel Guide · Travel Office'`)
})

test('the sidebar shows the useful first, folds, and has each agent and tool once', options, async (t) => {
  const { page, url } = await office(t)
  await heading(page, 'Travel Guide')
  const sections = await page.names('DisclosureTriangle')
  assert.deepEqual(sections.slice(0, 6), [
    'Agents 3', 'Tools 6', 'Resources 2', 'Prompts 1', 'Use 4', 'HTTP operations 4',
  ])
  const isSeen = (hash: string): string => (
    `document.querySelector('nav a[href="#${hash}"]')?.checkVisibility() === true`
  )
  for (const word of ['travel-guide', 'plan_trip', 'execute_travel_guide_task', 'postcard']) {
    const hashes = await page.evaluate(
      `[...document.querySelectorAll('nav a')].filter((one) => one.hash.includes('${word}')).length`,
    )
    assert.equal(hashes, word.startsWith('execute') ? 0 : 1, word)
  }
  await page.click('link', 'an MCP tool')
  await page.isTrue(`current === 'tool/execute_travel_guide_task'`)
  assert.equal(await page.evaluate(isSeen('GET/healthz')), false)
  await page.click('DisclosureTriangle', 'Tools')
  await page.isTrue(`!(${isSeen('tool/plan_trip')})`)
  await page.go(`${url}/docs#connect`)
  await page.evaluate('location.reload()')
  await heading(page, 'Connect a client')
  await page.isTrue(`!(${isSeen('tool/plan_trip')})`)
  await page.evaluate(`location.hash = '#tool/plan_trip'`)
  await page.isTrue(isSeen('tool/plan_trip'))
})

test('a filter leaves the links that fit, and Enter opens the first', options, async (t) => {
  const { page } = await office(t)
  await heading(page, 'Travel Guide')
  await page.press('/')
  await page.type('seat BOOK_')
  await page.isTrue(`document.querySelectorAll('#links a').length < 5`)
  assert.match(await page.text('#links'), /book_seat/)
  assert.doesNotMatch(await page.text('#links'), /Postcard/)
  await page.press('Enter')
  await heading(page, 'book_seat')
  await page.press('/')
  await page.press('Escape')
  await page.isTrue(`document.querySelectorAll('#links a').length > 20`)
  await page.fill('Filter', 'no such thing', 'searchbox')
  await page.sees('Nothing fits.', '#links')
})

test('each thing has a link that opens it, and the way back works', options, async (t) => {
  const { page } = await office(t, { hash: '#tool/book_seat' })
  await heading(page, 'book_seat')
  await page.click('link', 'Timetable')
  await heading(page, 'Timetable')
  await page.evaluate('window.history.back()')
  await heading(page, 'book_seat')
  await page.evaluate(`location.hash = '#tool/none'`)
  await heading(page, 'Travel Guide')
})

test('the shortest code comes first, the envelope of MCP a tab further', options, async (t) => {
  const { page, url } = await office(t, { hash: '#tool/find_trains', view: { width: 1400 } })
  await page.fill('to', "St. John's")
  const code = (): Promise<unknown> => page.evaluate(`document.querySelector('.source pre').textContent`)
  assert.deepEqual((await page.names('tab')).slice(2), ['curl', 'MCP', 'JavaScript', 'Python'])
  const type = `-H 'Content-Type: application/json'`
  const call = (more = ''): string => `curl ${url}/mcp ${type}${more} -d '{"jsonrpc":"2.0","id":1,`
    + `"method":"tools/call","params":{"name":"find_trains","arguments":{"to":"St. John'\\''s"}}}'`
  assert.equal(await code(), call())
  await page.choose('Called over', 'MCP 2025-11-25')
  assert.equal(await code(), call(` -H 'MCP-Protocol-Version: 2025-11-25'`))
  await page.click('tab', 'MCP')
  assert.match(String(await code()), /Mcp-Session-Id: YOUR_SESSION/)
  await page.choose('Called over', 'HTTP')
  assert.deepEqual((await page.names('tab')).slice(2), ['curl', 'JavaScript', 'Python'])
  assert.equal(await code(), `curl ${url}/tools/find_trains ${type} -d '{"to":"St. John'\\''s"}'`)
  await page.choose('Called over', 'MCP 2026-07-28')
  assert.equal(await code(), call())
  await page.click('tab', 'MCP')
  assert.match(String(await code()), new RegExp(`^curl ${url}/mcp [^]*"method": "tools/call"`))
  await page.click('tab', 'JavaScript')
  const javascript = /^const response = await fetch\([^]*JSON\.stringify\(\{[^]*"to": "St\. John's"\s+\}/
  assert.match(String(await code()), javascript)
  await page.press('ArrowRight')
  const python = /^import json[^]*json\.dumps\(\{[^]*"to": "St\. John's"\s+\}[^]*\.encode\(\)/
  assert.match(String(await code()), python)
  await page.click('button', 'Copy')
  await page.sees('Copied')
  await page.click('link', 'book_seat')
  await heading(page, 'book_seat')
  const shown = `document.querySelector('section:not([hidden]) .source [aria-selected=true]').textContent`
  assert.equal(await page.evaluate(shown), 'Python', 'the language stays')
})

/** Runs a program to its end. */
function execute(
  program: string, words: readonly string[],
): Promise<{ readonly stdout: string; readonly isMissing: boolean }> {
  return new Promise((resolve) => {
    execFile(program, words, { timeout: 20_000 }, (error, stdout) => {
      resolve({ stdout, isMissing: error?.code === 'ENOENT' })
    })
  })
}

test('the samples of a call run as they stand', options, async (t) => {
  const gate = new Gate()
  gate.open(100)
  const { page } = await office(t, { hash: '#tool/find_trains', view: { width: 1400 } })
  await page.fill('to', "St. John's \"x\"")
  const shown = `document.querySelector('.source pre').textContent`
  const runs: readonly (readonly [tab: string, program: string, flag: string])[] = [
    ['curl', 'sh', '-c'], ['MCP', 'sh', '-c'], ['JavaScript', process.execPath, '-e'],
    ['Python', 'python3', '-c'],
  ]
  for (const [tab, program, flag] of runs) {
    await page.click('tab', tab)
    const code = String(await page.evaluate(shown))
    const text = tab === 'JavaScript' ? `(async () => {${code}})()` : code
    const { stdout, isMissing } = await execute(program, [flag, text])
    if (isMissing) {
      t.diagnostic(`skipped: ${program} is not here`)
      continue
    }
    assert.match(stdout, /Three trains go to St\. John's \\*"x/, tab)
  }
  for (const door of ['MCP 2025-11-25', 'HTTP']) {
    await page.choose('Called over', door)
    await page.click('tab', 'curl')
    const { stdout } = await execute('sh', ['-c', String(await page.evaluate(shown))])
    assert.match(stdout, /Three trains go to St\. John's \\*"x/, door)
  }
})

/** What the connect panel shows, folds too. */
const connected = `[...document.querySelectorAll('section:not([hidden]) pre')].map((one) => one.textContent)`
const links = `[...document.querySelectorAll('main a.button')].map((one) => one.href)`

test('what clients need names this server, a click or a copy away, and makes a call', options, async (t) => {
  const { page, url } = await office(t, { hash: '#connect' })
  const text = await page.sees('claude mcp add -t http travel-office')
  const files = [...mcpHosts.map(({ files: { macos, project = macos } }) => project), 'mcp-remote']
  for (const file of files) assert.ok(text.includes(file), file)
  const texts = await page.evaluate(connected) as readonly string[]
  for (const host of mcpHosts) {
    const module = { command: 'npx', args: ['triport', 'serve', '/path/to/agent.js', hostFlag(host)] }
    for (const server of [module, { url: `${url}/mcp` }]) {
      const entry = hostEntry(host, server)
      if (entry === undefined) continue
      const { member, format } = host
      const whole = format === 'json' ? JSON.stringify({ [member]: { 'travel-office': entry } }, null, 2)
        : tomlTable(`${member}.travel-office`, entry).trim()
      assert.ok(texts.includes(whole), `${host.title}: ${whole}`)
    }
    const install = `npx triport install ${host.id} ${url}/mcp`
    assert.equal(texts.includes(install), host.address !== undefined, host.title)
  }
  const [cursor, code] = await page.evaluate(links) as readonly [string, string]
  const config = new URL(cursor).searchParams
  assert.match(cursor, /^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?/)
  assert.equal(config.get('name'), 'travel-office')
  const decoded: unknown = JSON.parse(Buffer.from(config.get('config') ?? '', 'base64').toString())
  assert.deepEqual(decoded, { url: `${url}/mcp` })
  assert.match(code, /^vscode:mcp\/install\?/)
  const server: unknown = JSON.parse(decodeURIComponent(code.split('?')[1] ?? ''))
  assert.deepEqual(server, { name: 'travel-office', type: 'http', url: `${url}/mcp` })
})

test('each call that a client is shown gets an answer', options, async (t) => {
  const { page } = await office(t, { hash: '#connect' })
  await page.sees('Your own MCP client')
  const texts = await page.evaluate(connected) as readonly string[]
  const calls = texts.filter((text) => text.startsWith('curl '))
  const paths = calls.map((text) => /127[^/]*(\/\S*)/.exec(text)?.[1])
  assert.deepEqual(paths, ['/mcp', '/a2a', '/v1/chat/completions', '/agui', '/'])
  for (const text of calls) {
    const { stdout } = await execute('sh', ['-c', text])
    assert.match(stdout, /result|choices|response|RUN_FINISHED/, text)
    assert.doesNotMatch(stdout, /"error"|"status":[45]/, text)
  }
  assert.ok(texts.some((text) => text.includes('client.callTool(')))
  assert.ok(texts.some((text) => text.includes('chat.completions.create(')))
})

test('a key is in what clients need only as a word to be replaced', options, async (t) => {
  const more = { apiKey: 'sesame' }
  const { page } = await office(t, { more, hash: '#connect', expected: /status of 401/ })
  await page.fill('API key', 'sesame')
  await page.press('Enter')
  await page.sees('Put your key in the place of YOUR_KEY')
  const texts = String(await page.evaluate(connected))
  assert.match(texts, /claude mcp add .* -H 'Authorization: Bearer YOUR_KEY'/)
  assert.match(texts, /"Bearer \$\{env:TRIPORT_API_KEY\}"/)
  const hrefs = String(await page.evaluate(links))
  assert.match(decodeURIComponent(hrefs), /"headers":\{"Authorization":"Bearer \$\{env:TRIPORT_API_KEY\}"/)
  assert.doesNotMatch(texts + hrefs, /sesame/)
})

test('what was sent is listed, and sent again', options, async (t) => {
  const { page } = await office(t, { hash: '#agent/travel-guide' })
  await page.fill('Query', 'Where to?')
  await page.press('Enter')
  await page.sees('You asked: Where to?')
  await page.click('link', 'History')
  await page.sees('POST /agents/travel-guide')
  await page.click('button', 'Again')
  await page.sees(/\+\d.* delta \{"text":"Lisbon"\}/)
  await page.isTrue(`document.querySelectorAll('.row').length === 2`)
  await page.sees(/done.*You asked: Where to\?/)
})

test('the theme is the one of the system until another is chosen, which is kept', options, async (t) => {
  const { page, url } = await office(t, { view: { isDark: true } })
  const scheme = (name: string): Promise<void> => page.isTrue(
    `getComputedStyle(document.body).backgroundColor ${name === 'dark' ? '===' : '!=='} 'rgb(17, 20, 21)'`,
  )
  await scheme('dark')
  await page.click('button', 'Theme: system')
  await scheme('light')
  await page.go(`${url}/docs#connect`)
  await scheme('light')
  await page.click('button', 'Theme: light')
  await scheme('dark')
  await page.click('button', 'Theme: dark')
  await page.sees('◐', '#theme')
})

test('a key is asked for, kept in the tab, and never part of an address', options, async (t) => {
  const { page, url } = await office(t, { more: { apiKey: 'sesame' }, expected: /status of 401/ })
  await page.sees('A key is needed')
  await page.sees('401 Unauthorized')
  await page.sees('the server asks for a key', '#key-form')
  await page.isTrue(`document.activeElement.id === 'key'`)
  const cards = `[...document.querySelectorAll('.card, nav, section')]
    .filter((one) => one.checkVisibility()).length`
  assert.equal(await page.evaluate(cards), 1, 'one card')
  assert.deepEqual((await page.names('button')), ['Theme: system', 'Use key'])
  await page.fill('API key', 'wrong')
  await page.press('Enter')
  await page.sees('does not take this key', '#key-form')
  await page.isTrue(`document.activeElement.id === 'key'`)
  await page.press('Escape')
  await page.sees('401 Unauthorized')
  await page.fill('API key', 'sesame')
  await page.click('button', 'Use key')
  await heading(page, 'Travel Guide')
  await page.fill('Query', 'Where to?')
  await page.press('Enter')
  await page.sees('You asked: Where to?')
  await page.go(`${url}/docs#tool/show_ticket`)
  await page.evaluate('location.reload()')
  await heading(page, 'show_ticket')
  await page.click('button', 'Run')
  await page.sees('Your ticket')
  await page.click('DisclosureTriangle', 'The same as code')
  assert.match(await page.text('.source pre'), /X-API-Key: \$API_KEY/)
  assert.ok(page.sent.some(({ headers }) => headers['X-API-Key'] === 'sesame'))
  assert.deepEqual(page.sent.filter((one) => one.url.includes('sesame')), [])
  assert.doesNotMatch(await page.text(), /sesame/)
  await page.click('button', 'API key')
  await page.click('button', 'Forget')
  await page.sees('401 Unauthorized')
  assert.equal(await page.evaluate(cards), 1, 'one card again')
  assert.doesNotMatch(await page.text(), /Plans and books/)
})

test('what was sent with one key is not shown with another', options, async (t) => {
  const { page } = await office(t, { hash: '#agent/travel-guide' })
  await page.fill('Query', 'Where to?')
  await page.press('Enter')
  await page.sees('You asked: Where to?')
  await page.click('link', 'History')
  await page.isTrue(`document.querySelectorAll('.row').length === 1`)
  await page.click('button', 'API key')
  await page.fill('API key', 'another')
  await page.press('Enter')
  await page.isTrue(`document.querySelector('main h2') !== null`)
  await page.isTrue(`document.querySelectorAll('.row').length === 0`)
  await page.click('link', 'Travel Guide')
  assert.equal(await page.evaluate(`document.querySelector('.turn')`), null)
})

test('only what a server offers is shown', options, async (t) => {
  const { agents, tools } = showcase(new Gate())
  const { page } = await office(t, { more: { protocol: 'mcp' } })
  await heading(page, 'Travel Guide')
  await page.click('link', 'Plan a trip')
  const links = await page.names('link')
  assert.ok(links.includes('Timetable') && links.includes('Postcard') && links.includes('MCP messages'))
  assert.deepEqual(links.filter((name) => /A2A|chat|\/agents/.test(name)), [])
  await page.fill('Destination', 'Rome')
  await page.fill('name', 'Ada')
  await page.fill('city', 'London')
  await page.click('button', 'Run')
  await page.sees('"economy"')
  const web = await listen(t, { name: 'Office', agents: agents ?? [], tools: tools ?? [], protocol: 'http' })
  await page.send('Page.navigate', { url: 'about:blank' })
  const other = await browser.open(t, `${web.url}/docs#tool/show_ticket`)
  await heading(other, 'show_ticket')
  await other.click('button', 'Run')
  await other.sees('Your ticket')
  assert.deepEqual((await other.names('link')).filter((name) => /MCP|A2A/.test(name)), [])
})

test('the page works under a prefix of the server, and under one of a proxy', options, async (t) => {
  const gate = new Gate()
  gate.open(100)
  const mounted = await listen(t, { ...showcase(gate), mountPath: '/office' })
  const server = serve(t, showcase(gate))
  const proxy = createServer((request, response) => {
    request.url = request.url?.replace('/behind', '') ?? '/'
    server.handler(request, response)
  }).listen(0, '127.0.0.1')
  t.after(() => proxy.close())
  await new Promise((resolve) => proxy.once('listening', resolve))
  const { port } = proxy.address() as AddressInfo
  const prefixes = [`${new URL(mounted.url).origin}/office`, `http://127.0.0.1:${port}/behind`]
  for (const prefix of prefixes) {
    const page = await browser.open(t, `${prefix}/docs`)
    await heading(page, 'Travel Guide')
    await page.fill('Query', 'Where to?')
    await page.press('Enter')
    await page.sees('You asked: Where to?')
    await page.click('link', 'show_ticket')
    await page.click('button', 'Run')
    await page.sees('Your ticket')
    await page.click('link', 'A2A')
    await page.sees('It speaks version 1.0')
    await page.click('link', 'Connect')
    await page.sees(`${prefix}/mcp`)
    assert.ok(page.sent.every(({ url }) => url.startsWith(prefix) || url.startsWith('data:')))
  }
})

test('everything can be done with the keyboard alone, and the focus is always seen', options, async (t) => {
  const { page } = await office(t)
  await heading(page, 'Travel Guide')
  const focus = (): Promise<unknown> => page.evaluate(
    `(document.activeElement.ariaLabel ?? '') + document.activeElement.textContent.trim()`,
  )
  await page.press('Tab')
  assert.equal(await focus(), 'Skip to content')
  const trail: string[] = []
  for (let i = 0; i < 5; i++) {
    await page.press('Tab')
    trail.push(String(await focus()))
    assert.notEqual(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`), 'none')
  }
  assert.deepEqual(trail, ['API key', 'Theme: system◐', 'Filter', 'Agents3', 'Travel Guide'])
  await page.press('/')
  await page.press('ArrowDown')
  await page.press('ArrowDown')
  await page.press('ArrowDown')
  await page.press('ArrowUp')
  await page.press('Enter')
  // This heading was shown before, and the link has its text: only the focus shows that the link is open.
  await page.isTrue(`document.activeElement.matches('section:not([hidden]) h2')`)
  assert.equal(await focus(), 'Travel Guide')
  await page.press('Shift+Tab')
  await page.press('/')
  await page.type('book_seat')
  await page.press('Enter')
  await heading(page, 'book_seat')
  await page.press('Tab')
  assert.equal(await focus(), 'Form')
  await page.press('Tab')
  await page.type('IC 1')
  await page.press('Control+Enter')
  await page.sees('Which seat?')
  await page.isTrue(`document.activeElement.matches('select')`)
  await page.press('ArrowDown')
  await page.press('ArrowDown')
  await page.press('Control+Enter')
  await page.sees('IC 1: accept {"seat":"aisle"')
})

test('nothing has to be scrolled sideways, in any size, and at twice the size', options, async (t) => {
  const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  const { page } = await office(t, { view: { width: 390, isPhone: true } })
  for (const width of [320, 360, 400, 640, 800, 1280, 2000]) {
    const metrics = { width, height: 700, deviceScaleFactor: 2, mobile: width < 401 }
    await page.send('Emulation.setDeviceMetricsOverride', metrics)
    await walk(page, async (place) => {
      assert.deepEqual(await page.evaluate(`[${over}, innerWidth]`), [0, width], `${place} at ${width}`)
    })
  }
  await page.evaluate(`location.hash = 'agent/booking-clerk'`)
  await heading(page, 'Booking Clerk')
  await page.choose('Sent over', 'A2A')
  await page.fill('Query', 'a train to a place with a name-that-is-very-long-and-has-no-end')
  await page.press('Enter')
  await page.sees('Which seat?')
  for (const width of [2000, 400, 320]) {
    const metrics = { width, height: 700, deviceScaleFactor: 1, mobile: width < 401 }
    await page.send('Emulation.setDeviceMetricsOverride', metrics)
    await page.isTrue(`innerWidth === ${width}`)
    assert.equal(await page.evaluate(over), 0, `a question at ${width}`)
  }
})

test('on a phone the sidebar is behind a button', options, async (t) => {
  const { page } = await office(t, { view: { width: 390, isPhone: true } })
  await heading(page, 'Travel Guide')
  const isOpen = `document.querySelector('#links').checkVisibility()`
  assert.equal(await page.evaluate(isOpen), false)
  await page.click('button', 'Menu')
  await page.click('link', 'show_ticket')
  await heading(page, 'show_ticket')
  await page.click('button', 'Run')
  await page.sees('Your ticket')
  assert.equal(await page.evaluate(isOpen), false)
})

test('an element takes more children than a call takes arguments', options, async (t) => {
  const { page } = await office(t)
  await heading(page, 'Travel Guide')
  const count = 200_000
  assert.equal(await page.evaluate(`make('p', {}, Array(${count}).fill('a')).textContent.length`), count)
})

test('the page and its first calls are small', options, async (t) => {
  const { page } = await office(t)
  await heading(page, 'Travel Guide')
  assert.ok(page.receivedBytes > 20_000 && page.receivedBytes < 100_000, `${page.receivedBytes} bytes`)
})

test('without JavaScript the page tells how the server is reached', options, async (t) => {
  const gate = new Gate()
  const { url } = await listen(t, showcase(gate))
  const page = await browser.open(t, `${url}/docs`, { hasScripts: false })
  const { nodes } = await page.send('Accessibility.getFullAXTree')
  assert.match(JSON.stringify(nodes), /curl \$URL\/health/)
})

test('what a server says never becomes markup', options, async (t) => {
  const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
  const evil = { name: `Evil ${markup}`.slice(0, 40), description: markup, run: () => markup }
  const field = { type: 'string', description: markup, enum: [markup] }
  const tool = {
    name: 'evil', title: markup, description: markup, run: () => markup,
    inputSchema: { type: 'object', properties: { [markup]: field } },
  }
  const { url } = await listen(t, {
    name: 'Evil', description: markup, agents: [evil], tools: [tool], protocol: 'all',
  })
  const page = await browser.open(t, `${url}/docs`)
  await page.sees(markup)
  await page.fill('Query', markup)
  await page.press('Enter')
  await page.sees(/total/)
  await page.go(`${url}/docs#tool/evil`)
  await page.click('button', 'Run')
  await page.sees('Done')
  assert.equal(await page.evaluate(`document.querySelectorAll('img, main script').length`), 0)
})

test('a page notes what its policy forbids, and who leaves its host', options, async (t) => {
  const { page } = await office(t, { expected: /Content Security Policy|other\.invalid/ })
  await page.evaluate(`fetch('http://other.invalid/').catch(() => {})`)
  await eventually(() => page.problems.some((problem) => /Content Security Policy/.test(problem)))
  await page.send('Page.setBypassCSP', { enabled: true })
  await page.evaluate('location.reload()')
  await heading(page, 'Travel Guide')
  await page.evaluate(`fetch('http://other.invalid/').catch(() => {})`)
  await eventually(() => page.problems.includes('Left for http://other.invalid/'))
})
