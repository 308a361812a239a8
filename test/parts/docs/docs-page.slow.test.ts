import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Browser, absent } from '../../fixtures/browser.ts'
import { eventually, listen, serve } from '../../fixtures/client.ts'
import { Gate, showcase } from '../../fixtures/showcase.ts'
import type { TestContext } from 'node:test'
import type { Page } from '../../fixtures/browser.ts'
import type { TriportServer } from '../../../lib/index.ts'

/** What things of the travel office answer, in a browser. */
const options = { skip: absent, timeout: 120_000 }
const browser = new Browser()
after(() => browser.close())

async function office(t: TestContext, hash: string, expected?: RegExp): Promise<{ page: Page; gate: Gate }> {
  const gate = new Gate()
  const { url } = await listen(t, showcase(gate))
  const page = await browser.open(t, `${url}/docs#${hash}`, {}, expected)
  await page.isTrue(`document.querySelector('main h2') !== null`)
  return { page, gate }
}

test('words of an agent are seen one after another', options, async (t) => {
  const { page, gate } = await office(t, 'agent/travel-guide')
  await page.sees('Answers in words that come one by one')
  await page.fill('Query', 'Where to?')
  await page.press('Enter')
  let seen = ''
  for (const word of ['Lisbon', ' is', ' best', ' on', ' foot.']) {
    gate.open()
    seen += word
    await page.isTrue(`document.querySelector('.turn .text').textContent.startsWith(${JSON.stringify(seen)})`)
    assert.ok(seen.endsWith('foot.') || await page.text('.turn .text') === seen)
  }
  const text = await page.sees(/Done\s+total \d+\.\d{3} s · first token \d+\.\d{3} s/)
  assert.match(text, /Lisbon is best on foot\. You asked: Where to\? \(0 before\)/)
})

const MARKDOWN = `# Title

First **strong** and *soft* \`a < b\` snake_case_name [site](https://a.example/x) <mailto:a@b.example>
second line, ~~gone~~ https://b.example/x.
[no](javascript:alert(1)) [no](data:text/html,x) <img src=x onerror=alert(1)> \\*plain\\*

- [x] one
- two
  - deep **b**
1. first
2. second

> quoted

| a | b |
|---|:-:|
| 1 | \`2\` |

---

\`\`\`html
<script>alert(1)</script>

still code
\`\`\`

The end.`

test('Markdown of an agent is made of elements, while it comes and when it is there', options, async (t) => {
  const gate = new Gate()
  const half = MARKDOWN.indexOf('still code')
  const { url } = await listen(t, {
    description: 'Writes.', agents: [{
      name: 'Writer', description: 'Writes.',
      async * run(_, { signal }) {
        for (let at = 0; at < half; at += 7) yield MARKDOWN.slice(at, Math.min(half, at + 7))
        await gate.pass(signal)
        yield MARKDOWN.slice(half)
      },
    }],
  })
  const page = await browser.open(t, `${url}/docs`)
  await page.isTrue(`document.querySelector('main h2') !== null`)
  assert.equal((await page.text('main')).match(/Writes\./g)?.length, 1, 'one description')
  await page.fill('Query', '**plain** words')
  await page.press('Enter')
  await page.sees('alert(1)')
  const shape = (selector: string): Promise<unknown> => page.evaluate(
    `[...document.querySelectorAll('.markdown ${selector}')].map(one => one.textContent).join('|')`,
  )
  await page.isTrue(`document.querySelector('.markdown pre') !== null`)
  assert.equal(await shape('strong'), 'strong|b')
  gate.open()
  await page.sees('The end.')
  await page.sees(/total \d/)
  const rows: readonly (readonly [selector: string, text: string])[] = [
    ['h3', 'Title'], ['strong', 'strong|b'], ['em', 'soft'], ['p code', 'a < b'],
    ['ul > li:first-child', '☑ one|deep b'], ['ul > li > ul > li', 'deep b'],
    ['ol > li', 'first|second'], ['blockquote', 'quoted'], ['th', 'a|b'], ['td', '1|2'], ['hr', ''],
    ['a', 'site|mailto:a@b.example|https://b.example/x'], ['s', 'gone'],
    ['pre', '<script>alert(1)</script>\n\nstill code'],
    ['> p:last-child', 'The end.'],
  ]
  for (const [selector, text] of rows) assert.equal(await shape(selector), text, selector)
  const first = String(await shape('> p'))
  assert.match(first, /snake_case_name .*javascript:alert.*<img src=x.*\*plain\*/s)
  const names = await page.evaluate(`[...new Set([...document.querySelectorAll('.markdown *')]
    .flatMap(one => [one.localName, ...one.getAttributeNames()]))].sort().join(' ')`)
  assert.equal(names, 'a aria-live blockquote button class code div em h3 hr href li ol p pre rel s small '
    + 'start strong tabindex table target td th tr type ul')
  assert.equal(await page.text('.query'), '**plain** words')
})

const TABLES = `Prices:
| Name | Left: | **Mid** | Right |
|:-----|:------|:-------:|------:|
| pears | \`a\\|b\` | c \\| d | 1.5 |
| an_incomparably_long_name_of_a_thing | \`x|y\` | one<br>two | 2 |
short | row
| more | than | four | cells | here |
> quoted | not a row

a | b
---

- | in | a list |
  | -- | :-: |
  | 1 | 2 |`

test('tables of Markdown have whole cells, on their sides, in a box that scrolls', options, async (t) => {
  const { url } = await listen(t, { agents: [{ name: 'Writer', description: 'Writes.', run: () => TABLES }] })
  for (const width of [390, 1280, 1600]) {
    const page = await browser.open(t, `${url}/docs`, { width, isPhone: width < 400 })
    await page.fill('Query', 'prices')
    await page.press('Enter')
    await page.sees(/total \d/)
    const cells = `[...document.querySelectorAll('.markdown tr')].map((row) =>
      [...row.children].map((one) => one.innerText + ':' + getComputedStyle(one).textAlign[0]).join(';'))`
    assert.deepEqual(await page.evaluate(cells), [
      'Name:l;Left::l;Mid:c;Right:r', 'pears:l;a|b:l;c | d:c;1.5:r',
      'an_incomparably_long_name_of_a_thing:l;x|y:l;one\ntwo:c;2:r', 'short:l;row:l;:c;:r',
      'more:l;than:l;four:c;cells | here:r', 'in:l;a list:c', '1:l;2:c',
    ])
    const around = `[...document.querySelectorAll('.markdown > :is(p, blockquote)')]
      .map((one) => one.innerText)`
    assert.deepEqual(await page.evaluate(around), ['Prices:', 'quoted | not a row', 'a | b'])
    const lines = `[...document.querySelectorAll('.markdown tr:nth-child(3) td:first-child')].map((one) => {
      const all = document.createRange(); all.selectNodeContents(one); return all.getClientRects().length })`
    assert.deepEqual(await page.evaluate(lines), [1], 'no word is cut')
    const widths = `[document.documentElement, document.querySelector('.table')]
      .map((one) => one.scrollWidth > one.clientWidth)`
    const [isPageWide, isTableWide] = await page.evaluate(widths) as readonly boolean[]
    assert.equal(isPageWide, false, `the page at ${width}`)
    if (width === 390) assert.equal(isTableWide, true, 'the table scrolls')
  }
})

test('descriptions are shown with the marks in them', options, async (t) => {
  const description = 'Reads `a_b` with **care**, see [the site](https://a.example/x). 2 * 3 * 4.'
  const inputSchema = { type: 'object', properties: { path: { type: 'string', description } } }
  const { url } = await listen(t, {
    description, agents: [{ name: 'Reader', description, run: () => '' }],
    tools: [{ name: 'read', description, inputSchema, run: () => '' }],
  })
  const page = await browser.open(t, `${url}/docs`)
  const marks = (place: string): string => `[...document.querySelectorAll('${place} :is(code, strong, a)')]
    .map((one) => one.localName + ' ' + one.textContent).join()`
  const all = 'code a_b,strong care,a the site'
  const words = 'Reads a_b with care, see the site. 2 * 3 * 4.'
  await page.isTrue(`${marks('section:not([hidden]) .lead')} === '${all}'`)
  assert.equal((await page.text('main')).split(words).length, 2, 'one description')
  for (const title of ['Reader', 'read ']) {
    const shown = `[...document.querySelectorAll('nav a')].map((one) => one.title).join('|')`
    assert.ok(String(await page.evaluate(shown)).includes(words), title)
  }
  await page.click('link', 'read')
  await page.isTrue(`${marks('section:not([hidden]) .lead')} === '${all}'`)
  assert.equal(await page.evaluate(marks('section:not([hidden]) label')), all)
})

test('a form is as high as what is in it, however high the code beside it is', options, async (t) => {
  const { url } = await listen(t, { tools: [{ name: 'look', description: 'Looks.', run: () => '' }] })
  const page = await browser.open(t, `${url}/docs#tool/look`, { width: 1400 })
  await page.click('tab', 'MCP')
  await page.isTrue(`document.querySelector('.split pre')?.textContent.includes('look')`)
  const heights = await page.evaluate(`[...document.querySelector('.split').children]
    .map(one => one.getBoundingClientRect().height)`) as readonly number[]
  const [form, code] = heights
  assert.ok(form! > 0 && form! < code! / 2, String(heights))
})

test('what moves while an agent speaks stands still for who wants that', options, async (t) => {
  const { page, gate } = await office(t, 'agent/travel-guide')
  await page.fill('Query', 'Where to?')
  await page.press('Enter')
  gate.open()
  await page.sees('Lisbon')
  const motion = `getComputedStyle(document.querySelector('.reply'), '::after').animationName`
  await page.isTrue(`${motion} === 'beat'`)
  const features = [{ name: 'prefers-reduced-motion', value: 'reduce' }]
  await page.send('Emulation.setEmulatedMedia', { features })
  await page.isTrue(`${motion} === 'none'`)
  gate.open(4)
  await page.sees('total')
  await page.isTrue(`document.querySelector('.turn').ariaBusy === 'false'`)
})

test('a conversation goes on until a new session is begun', options, async (t) => {
  const { page, gate } = await office(t, 'agent/travel-guide')
  gate.open(15)
  await page.click('button', 'Three days in Lisbon')
  await page.press('Enter')
  await page.sees('You asked: Three days in Lisbon (0 before)')
  await page.fill('Query', 'And then?')
  await page.click('button', 'Send')
  await page.sees('You asked: And then? (2 before)')
  await page.click('button', 'New session')
  assert.doesNotMatch(await page.text('main'), /before/)
  await page.fill('Query', 'Hello')
  await page.press('Enter')
  await page.sees('You asked: Hello (0 before)')
})

test('Stop ends the run of an agent', options, async (t) => {
  const { page, gate } = await office(t, 'agent/travel-guide')
  gate.open(2)
  await page.fill('Query', 'Where to?')
  await page.press('Enter')
  await page.sees('Lisbon is')
  await page.click('button', 'Stop')
  await page.sees(/Stopped\s+total/)
  await eventually(() => gate.aborted === 1, 'the run is aborted')
  assert.ok(!(await page.names('button')).includes('Stop'))
})

test('progress and log of a tool are seen while it runs, through every door', options, async (t) => {
  const { page, gate } = await office(t, 'tool/find_trains')
  await page.fill('to', 'Lisbon')
  for (const door of ['MCP 2026-07-28', 'MCP 2025-11-25', 'HTTP']) {
    await page.choose('Called over', door)
    await page.click('button', 'Run')
    for (const n of [1, 2, 3]) {
      const text = await page.sees(`Timetable ${n}`)
      assert.ok(!text.includes(`Timetable ${n + 1}`), door)
      await page.isTrue(`document.querySelector('progress').value === ${n}`)
      gate.open()
    }
    const text = await page.sees('Three trains go to Lisbon.')
    // A session of the old revision hears of the log what it asked for, which is nothing.
    if (door !== 'MCP 2025-11-25') assert.match(text, /info Read timetable 2/)
    await page.sees('Done')
  }
})

test('a stopped tool is aborted, through every door', options, async (t) => {
  const { page, gate } = await office(t, 'tool/find_trains')
  await page.fill('to', 'Lisbon')
  let aborted = 0
  for (const door of ['MCP 2026-07-28', 'MCP 2025-11-25', 'HTTP']) {
    await page.choose('Called over', door)
    await page.click('button', 'Run')
    await page.sees('Timetable 1')
    await page.click('button', 'Stop')
    await page.sees('Stopped')
    aborted++
    await eventually(() => gate.aborted === aborted, door)
  }
})

test('a question of a tool is a form, in both revisions', options, async (t) => {
  const { page } = await office(t, 'tool/book_seat')
  await page.fill('train', 'IC 1')
  for (const door of ['MCP 2026-07-28', 'MCP 2025-11-25']) {
    await page.choose('Called over', door)
    await page.click('button', 'Run')
    await page.sees('Which seat?')
    await page.choose('seat', 'aisle')
    await page.click('checkbox', 'insured')
    await page.click('button', 'Answer')
    await page.sees('IC 1: accept {"seat":"aisle","insured":true}')
    await page.click('button', 'Run')
    await page.sees('Which seat?')
    await page.click('button', 'Decline')
    await page.sees('IC 1: decline undefined')
  }
  const versions = page.sent.flatMap(({ headers }) => headers['MCP-Protocol-Version'] ?? [])
  assert.deepEqual(new Set(versions), new Set(['2026-07-28', '2025-11-25']))
})

test('a model that a tool asks for is played by who reads the page', options, async (t) => {
  const { page } = await office(t, 'tool/praise_city')
  for (const door of ['MCP 2026-07-28', 'MCP 2025-11-25']) {
    await page.choose('Called over', door)
    await page.click('button', 'Run')
    await page.sees('Praise Porto.')
    await page.fill('Answer', 'A fine place.')
    await page.click('button', 'Answer')
    await page.sees('It says: {"type":"text","text":"A fine place."}')
    await page.click('button', 'Run')
    await page.sees('Praise Porto.')
    await page.click('button', 'Decline')
    await page.sees(door.includes('2026') ? /Declined · \d[^]*You have declined/ : /Failed · \d/)
  }
})

test('a result is seen as text, picture, sound and link', options, async (t) => {
  const { page } = await office(t, 'tool/show_ticket')
  await page.click('button', 'Run')
  await page.sees('Your ticket')
  await page.isTrue(`document.querySelector('main img').naturalWidth === 1`)
  await page.isTrue(`document.querySelector('main audio').duration >= 0`)
  assert.match(await page.text('main'), /Resource office:\/\/timetable timetable/)
})

test('a tool that fails says so, through every door', options, async (t) => {
  const { page } = await office(t, 'tool/cancel_trip', /status of 500/)
  for (const door of ['MCP 2026-07-28', 'MCP 2025-11-25', 'HTTP']) {
    await page.choose('Called over', door)
    await page.click('button', 'Run')
    await page.sees(/Failed · \d/)
    const why = door === 'HTTP' ? '500 Internal Server Error' : 'The tool says that it failed:'
    const text = await page.sees(why)
    assert.doesNotMatch(text, /Done/, door)
    await page.evaluate(`document.querySelector('.facts').textContent = ''`)
  }
})

test('arguments that are refused are told from a tool that fails, through every door', options, async (t) => {
  const { page } = await office(t, 'tool/find_trains', /status of 422/)
  await page.click('tab', 'JSON')
  await page.fill('Arguments as JSON', '{"to":5}')
  for (const door of ['MCP 2026-07-28', 'MCP 2025-11-25', 'HTTP']) {
    await page.choose('Called over', door)
    await page.click('button', 'Run')
    const text = await page.sees(/Arguments refused · \d[^]*to: must be a string/)
    assert.doesNotMatch(text, /Failed|Done|failed/, door)
    await page.evaluate(`document.querySelector('.facts').textContent = ''`)
  }
})

test('a server that does not answer is told, and so is that it answers again', options, async (t) => {
  const { agents = [], tools = [] } = showcase(new Gate())
  const begin = (): TriportServer => (
    serve(t, { name: 'Office', agents, tools, protocol: 'all', graceMs: 0 })
  )
  const server = begin()
  const { url } = await server.listen(0)
  const page = await browser.open(t, `${url}/docs#tool/show_ticket`, {}, /ERR_|Failed to load|status of 500/)
  await page.sees('show_ticket', 'main h2')
  await server.close()
  await page.click('button', 'Run')
  await page.sees(/No answer · \d[^]*The server does not answer\./)
  await page.sees('does not answer', '#health')
  await page.click('link', 'Hopeless')
  await page.fill('Query', 'Help')
  await page.press('Enter')
  await page.sees(/The server does not answer\.[^]*No answer\s+total/, 'section:not([hidden])')
  await begin().listen(Number(new URL(url).port))
  await page.click('button', 'Retry')
  await page.sees(/The office is closed\.[^]*Failed\s+total/, 'section:not([hidden])')
  await page.sees(/^up/, '#health')
})

test('a session that the server has forgotten is opened anew', options, async (t) => {
  const gate = new Gate()
  const { url } = await listen(t, showcase(gate))
  const page = await browser.open(t, `${url}/docs#tool/show_ticket`, {}, /status of 404/)
  await page.choose('Called over', 'MCP 2025-11-25')
  await page.click('button', 'Run')
  await page.sees('Your ticket')
  const inSession = page.sent.find(({ headers }) => 'Mcp-Session-Id' in headers)
  const forget = { 'Mcp-Session-Id': String(inSession?.headers['Mcp-Session-Id']) }
  assert.ok((await fetch(`${url}/mcp`, { method: 'DELETE', headers: forget })).ok)
  await page.click('button', 'Run')
  const begun = (): number => page.sent.filter(({ headers }) => headers['Mcp-Method'] === 'initialize').length
  await eventually(() => begun() === 2)
  await page.sees('Your ticket')
  await page.isTrue(`!document.querySelector('main').textContent.includes('Failed')`)
})

test('resources are read and prompts got, through every door', options, async (t) => {
  const { page } = await office(t, 'resource/office://timetable')
  for (const door of ['MCP 2025-11-25', 'MCP 2026-07-28', 'HTTP']) {
    await page.choose('Called over', door)
    await page.click('button', 'Read')
    await page.sees(/"lisbon": \[\s+"08:10",\s+"12:40"/)
  }
  await page.click('link', 'City')
  await page.sees('What is known of a city.')
  await page.fill('name', 'Porto', 'combobox')
  // Suggestions that come late would lie over the button in the moment in which it is clicked.
  await page.press('Escape')
  await page.click('button', 'Read')
  await page.sees('Porto lies by the sea.')
  await page.click('link', 'Postcard')
  await page.sees('A postcard to a friend.')
  await page.fill('friend', 'Grace', 'combobox')
  await page.press('Escape')
  await page.click('button', 'Get')
  await page.sees('Write to Grace from home.')
  await page.choose('Called over', 'HTTP')
  await page.fill('friend', 'Ada', 'combobox')
  await page.press('Escape')
  await page.click('button', 'Get')
  await page.sees('Write to Ada from home.')
})

test('any message of MCP is sent as it is written', options, async (t) => {
  const { page } = await office(t, 'mcp')
  await page.choose('Example', 'tools/list')
  const shown = String(await page.evaluate(`document.querySelector('.source pre').textContent`))
  assert.deepEqual([...shown.matchAll(/-H '([^:]+)/g)].map(([, name]) => name), [
    'Accept', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method',
  ])
  await page.click('button', 'Send')
  await page.sees('"plan_trip"')
  const message = (): Promise<unknown> => page.evaluate(`document.querySelector('textarea').value`)
  assert.match(String(await message()), /"io\.modelcontextprotocol\/protocolVersion": "2026-07-28"/)
  await page.choose('Called over', 'MCP 2025-11-25')
  await page.choose('Example', 'prompts/list')
  assert.doesNotMatch(String(await message()), /protocolVersion/)
  await page.click('button', 'Send')
  await page.sees('"postcard"')
  const inSession = page.sent.findLast(({ headers }) => 'Mcp-Session-Id' in headers)
  assert.equal(inSession?.headers['MCP-Protocol-Version'], '2025-11-25')
  await page.fill('Message', '{"jsonrpc":"2.0","id":7,"method":"nothing/like-it"}')
  await page.click('button', 'Send')
  await page.sees('-32601')
})

test('the card of A2A is shown with its checks, of each agent', options, async (t) => {
  const { page } = await office(t, 'a2a')
  const text = await page.sees('It speaks version 1.0')
  assert.equal(text.match(/✓ /g)?.length, 5)
  assert.doesNotMatch(text, /✗/)
  await page.choose('Agent', 'Booking Clerk')
  await page.sees('Books seats, and asks which.')
})

test('a task is streamed, listed, opened and cancelled', options, async (t) => {
  const { page, gate } = await office(t, 'a2a')
  await page.choose('Agent', 'Travel Guide')
  await page.fill('Message', 'Where to?')
  await page.press('Enter')
  for (const part of ['Lisbon', 'Lisbon is']) {
    gate.open()
    await page.isTrue(`document.querySelector('.turn .text')?.textContent === ${JSON.stringify(part)}`)
  }
  assert.match(await page.text('.turn'), /Working/)
  await page.click('button', 'List the tasks')
  await page.click('button', 'Open')
  await page.isTrue(`document.querySelector('.turn:nth-child(2) .text')?.textContent === 'Lisbon is'`)
  gate.open()
  const texts = `[...document.querySelectorAll('.turn .text')].map((one) => one.textContent).join('|')`
  await page.isTrue(`${texts} === 'Lisbon is best|Lisbon is best'`)
  await page.click('button', 'Cancel the task')
  const states = `[...document.querySelectorAll('.turn .badge')].map((one) => one.textContent).join()`
  await page.isTrue(`${states} === 'Failed,Stopped'`)
  await page.sees('canceled', '.turn')
  await eventually(() => gate.aborted === 1, 'the run is aborted')
  await page.click('button', 'List the tasks')
  await page.sees(/canceled/, '.row')
})

test('a message is sent whole, and a task that wants to know something is answered', options, async (t) => {
  const { page, gate } = await office(t, 'a2a')
  gate.open(5)
  await page.choose('Agent', 'Travel Guide')
  await page.choose('Sent over', 'A2A, not streamed')
  await page.fill('Message', 'Where to?')
  await page.press('Enter')
  await page.sees('You asked: Where to? (0 before)')
  await page.choose('Agent', 'Booking Clerk')
  for (const way of ['A2A', 'A2A, not streamed']) {
    await page.choose('Sent over', way)
    await page.fill('Message', 'a train')
    await page.press('Enter')
    await page.sees('Which seat?')
    await page.choose('seat', 'window')
    await page.click('button', 'Answer')
    await page.sees('Booked a train at the window.', '.turn:last-child')
  }
})

test('an operation is sent with its body, and its status and headers are shown', options, async (t) => {
  const { page, gate } = await office(t, 'POST/agents/travel-guide', /status of 422/)
  gate.open(10)
  await page.click('button', 'Send')
  await page.sees('200 OK')
  await page.sees('You asked: What is 12')
  await page.click('DisclosureTriangle', 'Headers')
  await page.sees('content-type: application/json')
  await page.fill('Body', '{"query":""}')
  await page.click('button', 'Send')
  await page.sees('422')
  await page.click('DisclosureTriangle', 'Tools operations')
  await page.click('link', 'GET /resources/read')
  await page.sees('Responses', 'section:not([hidden])')
  await page.isTrue(`document.title.startsWith('/resources/read')`)
  await page.fill('uri', 'office://timetable')
  await page.click('button', 'Send')
  await page.sees('"08:10"')
  assert.ok(page.sent.some(({ url }) => url.endsWith('/resources/read?uri=office%3A%2F%2Ftimetable')))
})

test('events of an operation are listed one by one as they arrive', options, async (t) => {
  const { page, gate } = await office(t, 'POST/agents/travel-guide')
  await page.choose('Answer as', 'text/event-stream')
  await page.click('button', 'Send')
  for (const count of [1, 2, 3]) {
    gate.open()
    await page.isTrue(`document.querySelectorAll('.events li').length === ${count}`)
  }
  gate.open(2)
  await page.sees(/\+\d+\.\d{3} s done \{/)
})
