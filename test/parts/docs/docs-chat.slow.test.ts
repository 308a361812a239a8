import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Browser, absent } from '../../fixtures/browser.ts'
import { listen } from '../../fixtures/client.ts'
import { modules } from '../../fixtures/modules.ts'
import { Gate, showcase } from '../../fixtures/showcase.ts'
import { defineAgent, defineGroup } from '../../../lib/index.ts'
import type { TestContext } from 'node:test'
import type { Page, View } from '../../fixtures/browser.ts'
import type { Agent, Call, ServerOptions } from '../../../lib/index.ts'

/** A talk with an agent on the docs page, in a browser. */
const options = { skip: absent, timeout: 120_000 }
const browser = new Browser()
after(() => browser.close())

type Run = (prompt: string, call: Call) => unknown

function agent(name: string, run: Run): Agent {
  return defineAgent({ name, description: `A ${name}.`, run: run as Agent['run'] })
}

async function talk(
  t: TestContext, more: ServerOptions, id: string, view: View = {}, expected?: RegExp,
): Promise<Page> {
  const { url } = await listen(t, { name: 'Talk', protocol: 'all', ...more })
  const page = await browser.open(t, `${url}/docs#agent/${id}`, view, expected)
  await page.isTrue(`document.querySelector('main h2') !== null`)
  return page
}

async function ask(page: Page, query: string): Promise<void> {
  await page.fill('Query', query)
  await page.press('Enter')
}

/** What stands in each part of the last reply, in its order. */
const parts = `[...document.querySelectorAll('.turn:last-child .reply > * > *')]
  .map((one) => one.innerText.trim())`

test('thoughts, tool calls and texts are seen as they come, in their order', options, async (t) => {
  const gate = new Gate()
  const clerk = agent('Clerk', async function* (prompt: string, call: Call) {
    call.event({ type: 'reasoning', text: 'The **price** ' })
    call.event({ type: 'reasoning', text: 'is in the list.' })
    await gate.pass(call.signal)
    call.event({ type: 'tool-call', id: '1', name: 'price', args: { article: prompt } })
    await gate.pass(call.signal)
    call.event({ type: 'tool-result', id: '1', result: { total: 6 } })
    call.event({ type: 'tool-call', id: '2', name: 'stock' })
    call.event({ type: 'tool-result', id: '2', result: 'It is closed.', isError: true })
    yield 'They cost '
    await gate.pass(call.signal)
    call.event({ type: 'tool-call', id: '3', name: 'memo' })
    call.event({ type: 'tool-result', id: '3', result: 'ok' })
    call.event({ type: 'usage', inputTokens: 20, outputTokens: 5 })
    yield '**six** euros.'
  })
  const page = await talk(t, { agents: [clerk] }, 'clerk')
  await ask(page, 'pears')
  await page.sees(/Thinking\s+The price is in the list\./)
  await page.sees(/Working\s+\d+\.\d{3} s/)
  gate.open()
  await page.sees(/price\s+running/)
  await page.sees(/Thought for \d/)
  const isOpen = `document.querySelector('.thought').open`
  assert.equal(await page.evaluate(isOpen), false)
  gate.open()
  await page.sees('They cost')
  assert.match(await page.text('.turn'), /price\s+done · \d.*\s+stock\s+failed · \d/)
  gate.open()
  await page.sees(/Done\s+total .* · first token .* · 20 tokens in, 5 tokens out/)
  const shown = await page.evaluate(parts) as readonly string[]
  const order = ['Clerk', 'Thought', 'price', 'stock', 'They', 'memo', 'six']
  assert.deepEqual(shown.map((one) => one.split(/\s/)[0]), order)
  await page.click('DisclosureTriangle', 'price')
  await page.sees(/"article": "pears"[^]*"total": 6/)
  await page.click('DisclosureTriangle', 'stock')
  await page.sees(/What went wrong\s+It is closed\./)
  await page.click('DisclosureTriangle', 'Events (')
  await page.sees(/\+\d\.\d{3} s tool \{"id":"1","name":"price","state":"running"/)
  assert.equal(await page.text('.markdown strong'), '')
  assert.equal(await page.evaluate(`document.querySelector('.thought strong').textContent`), 'price')
})

test('the members of a group are told apart as they speak, in turn or all at once', options, async (t) => {
  const gate = new Gate()
  const members = ['Poet', 'Critic'].map((name) => agent(name, async function* (prompt, call) {
    call.event({ type: 'tool-call', id: name, name: `look_${name}` })
    call.event({ type: 'tool-result', id: name, result: 1 })
    yield `${name} of `
    await gate.pass(call.signal)
    yield prompt
  }))
  const page = await talk(t, { groups: [
    defineGroup({ name: 'Salon', description: 'In turn.', agents: members }),
    defineGroup({ name: 'Choir', description: 'At once.', agents: members, mode: 'parallel' }),
  ] }, 'salon')
  await ask(page, 'a rose')
  await page.sees(/Poet\s+look_Poet\s+done.*\s+Poet of/)
  assert.equal(await page.evaluate(`document.querySelector('.step.now').ariaLabel`), 'Poet')
  gate.open()
  await page.sees(/Critic\s+look_Critic\s+done.*\s+Critic of/)
  await page.isTrue(`document.querySelector('.step.now').ariaLabel === 'Critic'`)
  gate.open()
  await page.sees(/Critic of Poet of a rose/)
  await page.sees(/Done/)
  const steps = `[...document.querySelectorAll('section:not([hidden]) .step')].map((one) => one.innerText)`
  const [first, second, ...rest] = await page.evaluate(steps) as readonly string[]
  assert.match(first!, /^Poet\s[^]*Poet of a rose$/)
  assert.match(second!, /^Critic\s[^]*Critic of Poet of a rose$/)
  assert.deepEqual(rest, [], 'what was said is not said again')
  assert.equal(await page.evaluate(`document.querySelector('.step.now')`), null)
  await page.click('link', 'Choir')
  await page.sees('Choir', 'section:not([hidden]) h2')
  await ask(page, 'a rose')
  await page.isTrue(`document.querySelectorAll('section:not([hidden]) .step .text').length === 2`)
  gate.open(2)
  await page.sees(/Done/, 'section:not([hidden])')
  await page.sees(/Poet of a rose[^]*Critic of a rose/, 'section:not([hidden])')
  const both = await page.evaluate(steps) as readonly string[]
  assert.deepEqual(both.map((one) => one.split('\n')[0]), ['Poet', 'Critic'])
  assert.match(both.join(' '), /Poet of a rose.*Critic of a rose/s)
})

test('a stream that fails has one state, and is tried again where it stands', options, async (t) => {
  const failing = agent('Failing', async function* () {
    yield 'A beginning'
    await Promise.resolve()
    throw new Error('inner')
  })
  const { agents = [] } = showcase(new Gate())
  const page = await talk(t, { agents: [...agents, failing] }, 'hopeless', {}, /status of 500/)
  await ask(page, 'Help')
  await page.sees('500 Internal Server Error: The office is closed.')
  await page.sees(/Failed\s+total/)
  assert.doesNotMatch(await page.text('main'), /200 OK|Done|State/)
  assert.equal(await page.evaluate(`document.querySelector('textarea').value`), '')
  await page.fill('Query', 'Another')
  await page.click('button', 'Retry')
  await page.isTrue(`document.querySelectorAll('.turn .query').length === 1`)
  await page.sees(/^Help[^]*The office is closed\.[^]*Failed\s+total/, '.turn')
  assert.equal(await page.evaluate(`document.querySelector('textarea').value`), 'Another')
  const sent = page.sent.filter(({ method, url }) => method === 'POST' && url.endsWith('/agents/hopeless'))
  assert.equal(sent.length, 2)
  await page.click('link', 'Failing')
  await page.sees('Failing', 'section:not([hidden]) h2')
  await ask(page, 'Go')
  await page.sees(/A beginning[^]*500[^]*Failed\s+total/, 'section:not([hidden])')
  assert.doesNotMatch(await page.text('main'), /200 OK|inner/)
  await page.click('link', 'History')
  await page.sees(/Failed · 500/)
  assert.doesNotMatch(await page.text('main'), /200 OK/)
})

test('a question is asked in the talk: over A2A, which is offered where HTTP cannot', options, async (t) => {
  const size = { type: 'string', enum: ['small', 'large'] }
  const schema = { type: 'object', properties: { size }, required: ['size'] }
  const shop = agent('Shop', async (prompt: string, call: Call) => {
    const { content } = await call.elicit({ message: 'Small or large?', schema })
    return `One ${String(content?.['size'])} ${prompt}.`
  })
  const page = await talk(t, { agents: [shop] }, 'shop')
  await ask(page, 'tea')
  await page.sees(/501[^]*Failed/)
  await page.click('button', 'Ask over A2A')
  await page.sees(/Small or large\?/)
  await page.sees(/Waits for you/)
  await page.isTrue(`document.activeElement.matches('form[aria-label="A question"] select')`)
  await page.choose('size', 'large')
  await page.click('button', 'Answer')
  await page.sees(/One large tea\.\s+Done/)
  await ask(page, 'milk')
  await page.sees('Small or large?')
  await page.click('button', 'Stop')
  await page.sees(/Stopped/, '.turn:last-child')
})

test('Retry sends a message with its files, and goes on with the talk', options, async (t) => {
  let isOpen = false
  const desk = agent('Desk', (prompt: string, call: Call) => {
    const file = call.message.find((one) => one.type === 'resource')
    if (prompt.startsWith('late') && !isOpen) throw new Error('closed')
    return `${prompt} with ${file?.resource.blob ?? 'nothing'} after ${call.history.length}`
  })
  const page = await talk(t, { agents: [desk] }, 'desk', {}, /status of 500/)
  await page.choose('Sent over', 'A2A')
  await ask(page, 'first')
  await page.sees('first with nothing after 0')
  const path = join(modules(t, { 'note.txt': 'hello' }), 'note.txt')
  const { result } = await page.send('Runtime.evaluate', {
    expression: `document.querySelector('input[type=file]')`,
  })
  const { objectId } = result as { objectId: string }
  await page.send('DOM.setFileInputFiles', { files: [path], objectId })
  await page.sees('note.txt')
  await ask(page, 'late')
  await page.sees(/Failed\s+total/)
  await ask(page, 'next')
  await page.sees('next with nothing')
  isOpen = true
  await page.click('button', 'Retry')
  await page.sees(/late[^]*with aGVsbG8=[^]*Done[^]*next with nothing/)
  assert.doesNotMatch(await page.text('main'), /Failed|Retry/)
  assert.equal(await page.evaluate(`document.activeElement.ariaLabel`), 'Query')
})

test('a question over A2A is declined, which ends its task', options, async (t) => {
  const schema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
  const shop = agent('Shop', async (prompt: string, call: Call) => {
    await call.elicit({ message: 'Which **size**?', schema })
    return prompt
  })
  const page = await talk(t, { agents: [shop] }, 'shop')
  await page.choose('Sent over', 'A2A')
  for (const query of ['tea', 'milk']) {
    await ask(page, query)
    await page.sees('Which size?', '.turn:last-child')
    await page.click('button', 'Decline')
    await page.sees(/You have declined[^]*Declined\s+total/, '.turn:last-child')
    assert.equal(await page.evaluate(`document.querySelector('form[aria-label="A question"]')`), null)
  }
  await page.click('link', 'A2A')
  await page.choose('Agent', 'Shop')
  await page.click('button', 'List the tasks')
  await page.sees(/canceled[^]*canceled/, 'section:not([hidden])')
  assert.doesNotMatch(await page.text('section:not([hidden])'), /input required/)
})

test('the code is of the protocol that a message is sent over', options, async (t) => {
  const page = await talk(t, { agents: [agent('Echo', (prompt: string) => prompt)] }, 'echo', { width: 1400 })
  const code = async (): Promise<string> =>
    String(await page.evaluate(`document.querySelector('.source pre').textContent`))
  assert.match(await code(), /^curl \S+\/agents\/echo -H 'Content-Type: [a-z/]+' -d '{"query":"hello"}'$/)
  await page.click('tab', 'A2A')
  assert.match(await code(), /\/agents\/echo\/a2a .*"SendMessage"/)
  await page.choose('Sent over', 'A2A')
  assert.match(await code(), /\/agents\/echo\/a2a .*"SendMessage"/)
  await page.click('tab', 'Stream')
  assert.match(await code(), /^curl -N \S+\/a2a .*"SendStreamingMessage"/)
  await page.click('tab', 'JavaScript')
  assert.match(await code(), /"method": "SendMessage"/)
  await page.choose('Sent over', 'HTTP')
  assert.match(await code(), /\/agents\/echo"[^]*"query": "hello"/)
})

test('tools and tokens are seen over A2A too', options, async (t) => {
  const clerk = agent('Clerk', async (_: string, call: Call) => {
    call.event({ type: 'tool-call', id: '1', name: 'price' })
    await new Promise((resolve) => setImmediate(resolve))
    call.event({ type: 'tool-result', id: '1', result: 6 })
    call.event({ type: 'usage', inputTokens: 20, outputTokens: 5 })
    return 'Six.'
  })
  const page = await talk(t, { agents: [clerk] }, 'clerk')
  await page.choose('Sent over', 'A2A')
  await ask(page, 'pears')
  await page.sees(/Calls price[^]*Six\.\s+Done[^]*20 tokens in, 5 tokens out/)
})

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5E'
  + 'rkJggg=='

test('files go in and come out', options, async (t) => {
  const reader = agent('Reader', (prompt: string, call: Call) => {
    const file = call.message.find((one) => one.type === 'resource')
    const report = { uri: 'file:///out/report.csv', mimeType: 'text/csv', text: 'a,b\n1,2' }
    return {
      text: `${prompt}: ${Buffer.from(file?.resource.blob ?? 'bm90aGluZw==', 'base64').toString()}`,
      content: [
        { type: 'image', data: pixel, mimeType: 'image/png' }, { type: 'resource', resource: report },
      ],
      data: { rows: 1 },
    }
  })
  const page = await talk(t, { agents: [reader] }, 'reader')
  const path = join(modules(t, { 'note.txt': 'hello from a file' }), 'note.txt')
  const expression = `document.querySelector('input[type=file]')`
  const { result } = await page.send('Runtime.evaluate', { expression })
  const { objectId } = result as { objectId: string }
  await page.send('DOM.setFileInputFiles', { files: [path], objectId })
  await page.click('button', 'Leave out note.txt')
  assert.ok(!(await page.names('button')).some((name) => name.startsWith('Leave out')))
  await page.send('DOM.setFileInputFiles', { files: [path], objectId })
  await page.isTrue(`document.querySelector('[aria-label="Sent over"]').value === 'A2A'`)
  await ask(page, 'Read')
  await page.sees(/Read: .*hello from a file/)
  await page.sees(/"rows": 1/)
  await page.isTrue(`document.querySelector('.reply img').naturalWidth === 1`)
  await page.choose('Sent over', 'HTTP')
  await ask(page, 'Write')
  await page.sees(/Write: nothing[^]*Done/, '.turn:last-child')
  await page.sees(/a,b\s+1,2\s+file:\/\/\/out\/report\.csv · text\/csv · 7 bytes/, '.turn:last-child')
  await page.isTrue(`document.querySelectorAll('.reply img').length === 2`)
  const saved = `new Promise((resolve) => {
    URL.createObjectURL = (blob) => { blob.text().then(resolve); return 'data:,' }
    HTMLAnchorElement.prototype.click = function () { globalThis.savedAs = this.download }
  })`
  const text = page.evaluate(saved)
  await page.click('button', 'Save report.csv')
  assert.deepEqual([await text, await page.evaluate('savedAs')], ['a,b\n1,2', 'report.csv'])
})

test('the composer stays in view, and the newest words too until the reader leaves', options, async (t) => {
  const gate = new Gate()
  const long = agent('Long', async function* (prompt: string, call: Call) {
    for (let i = 0; i < 40; i++) yield `Line ${i} of ${prompt}\n\n`
    await gate.pass(call.signal)
    for (let i = 40; i < 80; i++) yield `Line ${i} of ${prompt}\n\n`
  })
  const views: readonly View[] = [{ width: 1280 }, { width: 400, isPhone: true }]
  for (const view of views) {
    const page = await talk(t, { agents: [long] }, 'long', view)
    const inView = `(() => {
      const { top, bottom } = document.querySelector('.composer form').getBoundingClientRect()
      return top > 0 && bottom <= innerHeight
    })()`
    const isAtEnd = `scrollY + innerHeight > document.documentElement.scrollHeight - 20`
    assert.equal(await page.evaluate(inView), true, 'at first')
    assert.equal(await page.evaluate(`document.documentElement.scrollHeight <= innerHeight`), true)
    await ask(page, 'one')
    await page.sees('Line 39 of one')
    await page.isTrue(isAtEnd)
    assert.equal(await page.evaluate(inView), true, 'at the end')
    await page.evaluate('scrollTo(0, 0)')
    await page.isTrue(inView)
    gate.open()
    await page.sees('Line 79 of one')
    await page.isTrue(`scrollY === 0`)
    await page.click('button', 'Latest')
    await page.isTrue(isAtEnd)
    await page.isTrue(inView)
    await page.isTrue(`document.querySelector('.latest').hidden`)
    gate.open()
    await ask(page, 'two')
    await page.sees('Line 79 of two')
    await page.isTrue(isAtEnd)
  }
})

test('a 401 is said in the talk and at the key', options, async (t) => {
  let key = 'one'
  const { url } = await listen(t, {
    agents: [agent('Echo', (prompt: string) => prompt)],
    apiKey: (given) => given === key ? { id: 'a', scopes: [] } : undefined,
  })
  const page = await browser.open(t, `${url}/docs`, {}, /status of 401/)
  await page.sees('A key is needed')
  await page.fill('API key', 'one')
  await page.press('Enter')
  await page.sees('Echo', 'main h2')
  key = 'two'
  await ask(page, 'Hello')
  await page.sees(/401 Unauthorized[^]*Failed/, '.turn')
  await page.sees('does not take this key', '#key-form')
  await page.press('Escape')
  await page.click('button', 'Enter a key')
  await page.isTrue(`document.activeElement.id === 'key'`)
})

test('who listens hears a reply once it is there, and can go through it by name', options, async (t) => {
  const gate = new Gate()
  const { agents = [] } = showcase(gate)
  const page = await talk(t, { agents }, 'travel-guide')
  await ask(page, 'Where to?')
  gate.open()
  await page.sees('Lisbon')
  assert.equal(await page.evaluate(`document.querySelector('[role=log] .turn').ariaBusy`), 'true')
  assert.deepEqual((await page.names('button')).slice(-3), ['Attach', 'Stop', 'Send'])
  gate.open(4)
  await page.sees('Done')
  assert.equal(await page.evaluate(`document.querySelector('[role=log] .turn').ariaBusy`), 'false')
  assert.deepEqual((await page.names('log')), ['Queries and replies'])
  assert.ok((await page.names('group')).includes('Travel Guide'))
  assert.equal(await page.evaluate(`document.activeElement.ariaLabel`), 'Query')
})

test('a talk is held by keyboard, and the focus is never behind the composer', options, async (t) => {
  const clerk = agent('Clerk', async function* (prompt: string, call: Call) {
    for (let i = 0; i < 60; i++) yield `Line ${i}\n\n`
    for (const id of ['1', '2', '3']) {
      call.event({ type: 'tool-call', id, name: `price_${id}`, args: { article: prompt } })
      call.event({ type: 'tool-result', id, result: 6 })
    }
    yield 'The end.'
  })
  const page = await talk(t, { agents: [clerk] }, 'clerk')
  const focus = (): Promise<unknown> => page.evaluate(
    `document.activeElement.ariaLabel || document.activeElement.textContent.split('done')[0]`,
  )
  const isSeen = `(() => {
    const { left, top, height } = document.activeElement.getBoundingClientRect()
    return document.activeElement.contains(document.elementFromPoint(left + 9, top + height / 2))
  })()`
  await ask(page, 'pears')
  await page.sees('The end.')
  for (const name of ['Attach', 'Sent over', 'Send']) {
    await page.press('Tab')
    assert.equal(await focus(), name)
  }
  await page.press('Shift+Tab')
  const trail: unknown[] = []
  for (let i = 0; i < 7; i++) {
    await page.press('Shift+Tab')
    trail.push(await focus())
    await page.isTrue(isSeen)
  }
  assert.deepEqual(trail, ['Attach', 'Query', 'Events (68)', 'Copy', 'price_3', 'price_2', 'price_1'])
  await page.press('Enter')
  await page.isTrue(`document.querySelector('.thing').open`)
  await page.sees('"article": "pears"')
})
