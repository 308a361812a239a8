import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Browser, absent } from '../../fixtures/browser.ts'
import { listen } from '../../fixtures/client.ts'
import { modules } from '../../fixtures/modules.ts'
import { Gate, showcase } from '../../fixtures/showcase.ts'
import { defineTool } from '../../../lib/index.ts'
import type { TestContext } from 'node:test'
import type { Page, View } from '../../fixtures/browser.ts'
import type { ServerOptions } from '../../../lib/index.ts'

/** Forms that the docs page makes from schemas, in a browser. */
const options = { skip: absent, timeout: 120_000 }
const browser = new Browser()
after(() => browser.close())

async function open(t: TestContext, more: ServerOptions, hash: string, view?: View): Promise<Page> {
  const { url } = await listen(t, { name: 'Forms', protocol: 'all', ...more })
  const page = await browser.open(t, `${url}/docs#${hash}`, view)
  await page.isTrue(`document.querySelector('main h2') !== null`)
  return page
}

/** The form of a tool that gives its arguments back. */
function formOf(t: TestContext, inputSchema: object): Promise<Page> {
  const tool = defineTool({ name: 'order', description: 'Orders.', inputSchema, run: (args) => args })
  return open(t, { tools: [tool] }, 'tool/order')
}

/** Sends the form, and gives what the tool got. */
async function sent(page: Page): Promise<unknown> {
  const output = 'section:not([hidden]) .card > .stack:last-child'
  await page.evaluate(`document.querySelector('${output}').replaceChildren()`)
  await page.click('button', 'Run')
  await page.sees('Done')
  return JSON.parse(await page.text(`${output} > pre`))
}

/** Sets what a person picks in the browser's own picker. */
function pick(page: Page, label: string, value: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const all = [...document.querySelectorAll('label')]
    const { control } = all.find((one) => one.textContent.startsWith('${label}'))
    control.value = '${value}'
    control.dispatchEvent(new Event('input', { bubbles: true }))
  })()`)
}

async function attach(t: TestContext, page: Page, name: string, text: string): Promise<void> {
  const path = join(modules(t, { [name]: text }), name)
  const expression = `document.querySelector('main input[type=file]')`
  const { result } = await page.send('Runtime.evaluate', { expression })
  const { objectId } = result as { objectId: string }
  await page.send('DOM.setFileInputFiles', { files: [path], objectId })
}

test('a tool is called with what its form says', options, async (t) => {
  const page = await open(t, showcase(new Gate()), 'tool/plan_trip')
  await page.fill('Destination', 'Lisbon')
  await page.choose('cabin', 'business')
  await page.fill('budget', '99.5', 'spinbutton')
  await page.click('checkbox', 'flexible')
  await page.click('checkbox', 'bag')
  await page.click('checkbox', 'seat')
  await page.fill('stops', 'Paris\nMadrid')
  await page.click('button', 'Add to passes')
  await page.fill('country', 'PT')
  await page.fill('days', '3', 'spinbutton')
  await page.fill('name', 'Ada')
  await page.fill('city', 'London')
  const plan = {
    destination: 'Lisbon', travellers: 2, cabin: 'business', budget: 99.5, flexible: false,
    extras: ['bag', 'seat'], stops: ['Paris', 'Madrid'], passes: [{ country: 'PT', days: 3 }],
    contact: { name: 'Ada', address: { city: 'London' } },
  }
  assert.deepEqual(await sent(page), plan)
})

test('what is written in the form is there as JSON, and the other way round', options, async (t) => {
  const page = await open(t, showcase(new Gate()), 'tool/plan_trip')
  await page.fill('Destination', 'Lisbon')
  await page.fill('name', 'Ada')
  await page.fill('city', 'London')
  await page.click('tab', 'JSON')
  const area = `document.querySelector('[aria-label="Arguments as JSON"]')`
  const written = JSON.parse(String(await page.evaluate(`${area}.value`))) as object
  const contact = { name: 'Ada', address: { city: 'London' } }
  const first = { destination: 'Lisbon', travellers: 2, cabin: 'economy', flexible: true, contact }
  assert.deepEqual(written, first)
  const more = {
    ...written, destination: 'Rome', travellers: 4, passes: [{ country: 'IT', days: 2 }, { country: 'FR' }],
    stops: ['Milan'], extras: ['meal'], own: { x: 1 },
  }
  await page.fill('Arguments as JSON', JSON.stringify(more))
  await page.click('tab', 'Form')
  await page.isTrue(`document.querySelector('input[type=range]').value === '4'`)
  await page.fill('Destination', 'Rome!')
  assert.deepEqual(await sent(page), { ...more, destination: 'Rome!' })
  await page.click('tab', 'JSON')
  await page.fill('Arguments as JSON', '{"destination"')
  await page.click('tab', 'Form')
  await page.sees('This is not JSON')
  const chosen = `document.querySelector('[role=tab][aria-selected=true]').textContent`
  assert.equal(await page.evaluate(chosen), 'JSON')
  await page.click('button', 'Run')
  await page.sees(/Failed/)
})

test('a form holds back what its schema refuses; JSON is sent as it is', options, async (t) => {
  const page = await open(t, showcase(new Gate()), 'tool/plan_trip')
  await page.click('button', 'Run')
  await page.isTrue(`document.querySelector('main :invalid') !== null`)
  await page.fill('travellers', '12', 'spinbutton')
  await page.isTrue(`document.querySelectorAll('input:invalid[type=number]').length === 1`)
  assert.ok(page.sent.every(({ headers }) => headers['Mcp-Method'] !== 'tools/call'))
  await page.click('tab', 'JSON')
  await page.fill('Arguments as JSON', '{"destination":"Rome"}')
  await page.click('button', 'Run')
  await page.sees('contact')
})

test('lists of objects grow and shrink within their bounds', options, async (t) => {
  const properties = {
    name: { type: 'string' }, born: { type: 'string', format: 'date' }, friend: { $ref: '#/$defs/person' },
  }
  const page = await formOf(t, {
    type: 'object', required: ['people'],
    properties: {
      people: { type: 'array', minItems: 1, maxItems: 3, items: { $ref: '#/$defs/person' } },
      sizes: { type: 'array', items: { type: 'number' } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'boolean' }], items: false },
      boss: { $ref: '#/$defs/person' },
    },
    $defs: { person: { type: 'object', properties, required: ['name'] } },
  })
  const buttons = (): Promise<readonly string[]> => page.names('button')
  assert.ok(!(await buttons()).includes('Remove'), 'one has to be there')
  await page.fill('name', 'Ada')
  await page.click('button', 'Add to people')
  await page.isTrue(`document.activeElement.closest('fieldset').textContent.startsWith('people 2')`)
  await page.type('Grace')
  await page.click('button', 'Add to people')
  await page.type('Alan')
  assert.ok(!(await buttons()).includes('Add to people'), 'three at most')
  assert.equal((await buttons()).filter((name) => name === 'Remove').length, 3)
  await page.click('button', 'Remove')
  await page.click('button', 'Add friend')
  await page.isTrue(`document.activeElement.matches('input')`)
  await page.type('Edsger')
  await page.click('button', 'Add to sizes')
  await page.fill('sizes 1', '1.5', 'spinbutton')
  await page.click('button', 'Add to pair')
  await page.type('a')
  await page.click('button', 'Add to pair')
  await page.click('checkbox', 'pair 2')
  await page.click('button', 'Add boss')
  await page.type('Barbara')
  await pick(page, 'born', '1912-06-23')
  assert.deepEqual(await sent(page), {
    people: [{ name: 'Grace', born: '1912-06-23', friend: { name: 'Edsger' } }, { name: 'Alan' }],
    sizes: [1.5], pair: ['a', true], boss: { name: 'Barbara' },
  })
})

test('a union is a choice, and shows the fields of what was chosen', options, async (t) => {
  const card = {
    title: 'Card', type: 'object', required: ['kind', 'number'],
    properties: { kind: { const: 'card' }, number: { type: 'string' } },
  }
  const invoice = {
    type: 'object', required: ['kind', 'email'],
    properties: { kind: { const: 'invoice' }, email: { type: 'string', format: 'email' } },
  }
  const page = await formOf(t, {
    type: 'object', required: ['payment', 'id'],
    properties: {
      payment: { oneOf: [card, invoice] },
      id: { type: ['string', 'integer'] },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      more: { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'string' } }] },
    },
  })
  await page.fill('number', '4242')
  await page.fill('string', 'a1')
  assert.deepEqual(await sent(page), { payment: { kind: 'card', number: '4242' }, id: 'a1' })
  await page.choose('payment', 'invoice')
  await page.fill('email', 'ada@example.com')
  await page.choose('id', 'integer')
  await page.fill('integer', '7', 'spinbutton')
  await page.fill('note', 'soon')
  await page.choose('more', 'array of string')
  await page.fill('array of string', 'x\ny')
  const all = {
    payment: { kind: 'invoice', email: 'ada@example.com' }, id: 7, note: 'soon', more: ['x', 'y'],
  }
  assert.deepEqual(await sent(page), all)
  await page.click('tab', 'JSON')
  await page.click('tab', 'Form')
  assert.deepEqual(await sent(page), all, 'what was chosen is found again')
  const kind = `document.querySelector('main select').selectedOptions[0].text`
  assert.equal(await page.evaluate(kind), 'invoice')
})

test('ranges, dates, choices and open objects have fields of their own', options, async (t) => {
  const page = await formOf(t, {
    type: 'object', required: ['speed', 'when', 'class'],
    properties: {
      speed: { type: 'number', minimum: 0, maximum: 1 },
      age: { type: 'integer', exclusiveMinimum: 0, maximum: 120 },
      when: { type: 'string', format: 'date-time' },
      at: { type: 'string', format: 'time' },
      class: { enum: [1, 2, null] },
      level: { oneOf: [{ const: 'l', title: 'Low' }, { const: 'h', title: 'High' }] },
      secret: { type: 'string', format: 'password' },
      labels: { type: 'object', additionalProperties: { type: 'integer' } },
      free: { type: 'object' },
      sure: { type: 'boolean' },
    },
  })
  await page.evaluate(`(() => {
    const slider = document.querySelector('input[type=range]')
    slider.value = '0.25'
    slider.dispatchEvent(new Event('input', { bubbles: true }))
  })()`)
  await page.isTrue(`document.querySelector('input[type=number]').value === '0.25'`)
  assert.deepEqual(await page.names('slider'), ['speed, as a slider', 'age, as a slider'])
  await pick(page, 'when', '2027-01-02T03:04:05')
  await pick(page, 'at', '10:30')
  await page.choose('class', '2')
  await page.choose('level', 'High')
  await page.click('button', 'Add to labels')
  await page.fill('Name 1', 'size')
  await page.fill('value', '3', 'spinbutton')
  await page.fill('free', '{"a":[1]}')
  const local = await page.evaluate(`new Date('2027-01-02T03:04:05').toISOString()`)
  const all = {
    speed: 0.25, when: local, at: '10:30:00Z', class: 2, level: 'h', labels: { size: 3 }, free: { a: [1] },
  }
  assert.deepEqual(await sent(page), all)
  await page.click('checkbox', 'sure')
  await page.click('checkbox', 'sure')
  assert.deepEqual(await sent(page), { ...all, sure: false }, 'what was touched is sent')
  await page.click('tab', 'JSON')
  await page.click('tab', 'Form')
  assert.deepEqual(await sent(page), { ...all, sure: false })
  const types = `[...document.querySelectorAll('main input')].map((one) => one.type).join(' ')`
  assert.match(String(await page.evaluate(types)), /number range number range datetime-local time password/)
})

test('what may be null is null where it is left empty', options, async (t) => {
  const page = await formOf(t, {
    type: 'object', required: ['note', 'count', 'many'],
    properties: {
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      count: { type: ['integer', 'null'], minimum: -(2 ** 53 - 1), maximum: 2 ** 53 - 1 },
      many: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 1e9 },
    },
  })
  assert.match((await page.names('spinbutton'))[0]!, /^count integer\s*$/)
  await page.fill('many 1', '1', 'spinbutton')
  await page.fill('many 2', '2', 'spinbutton')
  assert.deepEqual(await sent(page), { note: null, count: null, many: [1, 2] })
  await page.fill('note', 'x')
  await page.fill('count', '3', 'spinbutton')
  assert.deepEqual(await sent(page), { note: 'x', count: 3, many: [1, 2] })
})

test('a file becomes what its schema wants of it', options, async (t) => {
  const page = await formOf(t, {
    type: 'object', required: ['photo'],
    properties: { photo: { type: 'string', contentEncoding: 'base64', contentMediaType: 'text/plain' } },
  })
  await page.click('button', 'Run')
  await page.isTrue(`document.querySelector('input[type=file]').matches(':invalid[accept="text/plain"]')`)
  await attach(t, page, 'a.txt', 'hello')
  await page.isTrue(`document.querySelector('.source pre').textContent.includes('aGVsbG8=')`)
  assert.deepEqual(await sent(page), { photo: 'aGVsbG8=' })
})

test('a schema within itself is a form that grows as far as one asks for it', options, async (t) => {
  const properties = { name: { type: 'string' }, next: { $ref: '#' } }
  const node = { type: 'object', properties, required: ['name'] }
  const tree = defineTool({ name: 'tree', description: 'A tree.', inputSchema: node, run: (args) => args })
  const endless = { name: 'endless', description: 'Without end.', run: () => '', inputSchema: {
    ...node, required: ['name', 'next'],
  } }
  const page = await open(t, { tools: [tree, endless] }, 'tool/endless')
  await page.isTrue(`document.querySelectorAll('main fieldset').length > 3`)
  await page.click('link', 'Connect')
  await page.sees('Your own MCP client', 'section:not([hidden])')
  await page.click('link', 'tree')
  await page.isTrue(`document.querySelector('section:not([hidden]) h2').textContent === 'tree'`)
  for (const name of ['a', 'b', 'c']) {
    if (name !== 'a') await page.click('button', 'Add next')
    await page.evaluate(`[...document.querySelectorAll('section:not([hidden]) input')].at(-1).focus()`)
    await page.type(name)
  }
  assert.deepEqual(await sent(page), { name: 'a', next: { name: 'b', next: { name: 'c' } } })
})

test('arguments of prompts and variables of templates are completed while one types', options, async (t) => {
  const page = await open(t, showcase(new Gate()), 'prompt/postcard')
  const offered = `[...document.querySelectorAll('[role=listbox]:not([hidden]) [role=option]')]
    .map((one) => one.textContent).join()`
  await page.fill('friend', 'Ada', 'combobox')
  await page.fill('city', 'L', 'combobox')
  await page.isTrue(`${offered} === 'London,Lisbon'`)
  await page.isTrue(`document.activeElement.ariaExpanded === 'true'`)
  await page.press('ArrowDown')
  await page.press('ArrowDown')
  const active = `document.querySelector('#' + document.activeElement.getAttribute('aria-activedescendant'))
    .textContent`
  assert.equal(await page.evaluate(active), 'Lisbon')
  await page.type('i')
  await page.isTrue(`${offered} === 'Lisbon'`)
  assert.equal(await page.evaluate(active), 'Lisbon', 'what is marked stays so while the list is drawn anew')
  await page.press('Enter')
  await page.isTrue(`document.activeElement.value === 'Lisbon'`)
  await page.isTrue(`document.activeElement.ariaExpanded === 'false'`)
  const methods = page.sent.map(({ headers }) => headers['Mcp-Method'])
  assert.ok(!methods.includes('prompts/get'), 'Enter has chosen only')
  await page.press('Enter')
  await page.sees('Write to Ada from Lisbon.')
  await page.fill('friend', 'Grace', 'combobox')
  await page.fill('city', 'P', 'combobox')
  await page.isTrue(`${offered} === 'Porto,Paris'`)
  await page.press('Escape')
  await page.isTrue(`${offered} === ''`)
  await page.click('link', 'City')
  await page.fill('name', 'Po', 'combobox')
  await page.isTrue(`${offered} === 'Porto'`)
  await page.click('option', 'Porto')
  await page.sees('Reads office://city/Porto')
})

test('a template has a field for each variable, and is read at what they make', options, async (t) => {
  const resourceTemplates = [{
    uriTemplate: 'shop://{area}/{+path}{?page}', name: 'page', title: 'Page', description: 'A page.',
    read: (values: Readonly<Record<string, unknown>>) => JSON.stringify(values),
  }]
  const page = await open(t, { resourceTemplates } as ServerOptions, 'resource/shop://{area}/{+path}{?page}')
  assert.deepEqual((await page.names('textbox')).map((name) => name.split(' ')[0]), ['area', 'path', 'page'])
  await page.fill('area', 'a b')
  await page.fill('path', 'x/y')
  await page.sees('Reads shop://a%20b/x/y')
  await page.fill('page', '2')
  await page.sees('Reads shop://a%20b/x/y?page=2')
  await page.click('button', 'Read')
  await page.sees(/"path": "x\/y"/)
})

test('what tools, results and resources say of themselves is shown', options, async (t) => {
  const hinted = (name: string, annotations: object): object => ({
    name, description: 'A tool.', annotations, inputSchema: { type: 'object', properties: {} },
    run: () => [{ type: 'text', text: 'x', annotations: { audience: ['user'], priority: 1 } }],
  })
  const page = await open(t, { tools: [
    hinted('look', { title: 'Look at it', readOnlyHint: true, openWorldHint: false }),
    hinted('wipe', { destructiveHint: true, idempotentHint: true }),
  ] } as ServerOptions, 'tool/look')
  await page.sees('Look at it', 'main h2')
  const badges = `[...document.querySelectorAll('section:not([hidden]) .badge')]
    .map((one) => one.textContent).join()`
  assert.equal(await page.evaluate(badges), 'reads only,closed world')
  await page.sees('It takes no arguments.')
  await page.click('button', 'Run')
  await page.sees('for user · priority 1')
  await page.click('link', 'wipe')
  await page.isTrue(`${badges} === 'may destroy,again is the same'`)
})

test('fields stand in one column, no wider than is read well, in any width', options, async (t) => {
  const page = await open(t, showcase(new Gate()), 'tool/plan_trip', { width: 1280 })
  for (const [width, most] of [[400, 400], [800, 800], [1280, 640], [2000, 800]] as const) {
    const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 }
    await page.send('Emulation.setDeviceMetricsOverride', metrics)
    await page.isTrue(`innerWidth === ${width}`)
    const fields = `[...document.querySelectorAll('form > .stack > div:not([hidden]) > .stack > *')]
      .map((one) => { const { left, right } = one.getBoundingClientRect(); return [left, right] })`
    const all = await page.evaluate(fields) as readonly (readonly [number, number])[]
    assert.ok(all.length > 7)
    assert.equal(new Set(all.map(([left]) => left)).size, 1, `${width}: one left edge`)
    assert.equal(new Set(all.map(([, right]) => right)).size, 1, `${width}: one right edge`)
    assert.ok(all[0]![1] - all[0]![0] <= most, `${width}: ${all[0]![1] - all[0]![0]}`)
    const edges = `['h2', '.lead', '.card'].map((one) =>
      Math.round(document.querySelector('section:not([hidden]) ' + one).getBoundingClientRect().left))`
    const lefts = await page.evaluate(edges) as readonly number[]
    assert.equal(new Set(lefts).size, 1, `${width}: one edge of all`)
  }
})
