import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { definePrompt } from '../../../lib/kernel/define/prompt.ts'
import { complete, getPrompt, readResource } from '../../../lib/kernel/run/reading.ts'
import { defineResource, defineResourceTemplate } from '../../../lib/kernel/define/resource.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import type { Served } from '../../../lib/kernel/define/catalog.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import type { Prompt } from '../../../lib/kernel/define/prompt.ts'
import type { ResourceTemplate } from '../../../lib/kernel/define/resource.ts'
import type { Service } from '../../../lib/kernel/run/service.ts'

function serviceWith(...things: readonly Served[]): Service {
  return serviceOf({}, things).service
}

/** The detail of a `Fault` that lists what is wrong. */
function listing(...errors: readonly (readonly [path: string, message: string])[]): object {
  return { errors: errors.map(([path, message]) => ({ path, message })) }
}

function fails(run: () => unknown, kind: FaultKind, message: RegExp, detail?: unknown): void {
  assert.throws(run, (error: unknown) => {
    assert.ok(error instanceof Fault)
    assert.equal(error.kind, kind)
    assert.match(error.message, message)
    assert.deepEqual(error.detail, detail)
    return true
  })
}

const fixed = defineResource({
  uri: 'docs://readme', name: 'readme', mimeType: 'text/markdown', read: () => '# Hi',
})
const page = defineResourceTemplate({
  uriTemplate: 'docs://{page}', name: 'page', read: ({ page }) => `page ${String(page)}`,
  complete: { page: (value) => ['one', 'two'].filter((name) => name.startsWith(value)) },
})
const anything = defineResourceTemplate({
  uriTemplate: 'docs://{+path}{?q}', name: 'anything', mimeType: 'text/plain',
  read: async ({ path, q }) => [{ text: `path ${String(path)} ${String(q)}` }],
})

test('a resource is read at once where its author is, and later where he is not', async () => {
  const service = serviceWith(anything, page, fixed)
  const call = callOf()
  assert.deepEqual(readResource(service, 'docs://readme', call), [
    { uri: 'docs://readme', mimeType: 'text/markdown', text: '# Hi' },
  ])
  assert.equal(call.over, true)
  const later = readResource(service, 'docs://a/b?q=1', callOf())
  assert.ok(later instanceof Promise)
  assert.equal(service.workload.running, 1)
  assert.deepEqual(await later, [{ uri: 'docs://a/b?q=1', mimeType: 'text/plain', text: 'path a/b 1' }])
  assert.equal(service.workload.running, 0)
})

test('fixed resources win over templates, and templates are tried in order', async () => {
  const read = async (things: readonly Served[], uri: string): Promise<string | undefined> => {
    const [contents] = await readResource(serviceWith(...things), uri, callOf())
    return contents?.text
  }
  assert.equal(await read([page, fixed], 'docs://readme'), '# Hi')
  assert.equal(await read([page, anything], 'docs://x'), 'page x')
  assert.equal(await read([anything, page], 'docs://x'), 'path x undefined')
})

test('a scope holds for an address however it is spelled, and whatever else matches it', () => {
  const secret = defineResource({
    uri: 'docs://secret', name: 'secret', scopes: ['top'], read: () => 'secret',
  })
  const service = serviceWith(secret, page, anything)
  const may = (...scopes: readonly string[]): LiveCall =>
    callOf({}, { principal: { id: 'ann', scopes } })
  for (const uri of [
    'docs://secret', 'docs://%73ecret', 'docs://secre%74', 'docs://%73%65%63%72%65%74', 'DOCS://secret',
  ]) {
    fails(() => readResource(service, uri, may(), undefined), 'forbidden', /top/, { scopes: ['top'] })
    assert.match(JSON.stringify(readResource(service, uri, may('top'), undefined)), /secret"\}\]$/)
  }
})

test('a resource that there is not is not found, by its URI', () => {
  const service = serviceWith(fixed, page)
  const uri = 'docs://a/b'
  const message = /^Resource not found: docs:\/\/a\/b$/
  fails(() => readResource(service, uri, callOf()), 'not-found', message, { uri })
})

test('what an author throws for the caller reaches the caller, a defect does not', () => {
  const gone = defineResource({
    uri: 'x:1', name: 'x', read: () => { throw new Fault('not-found', 'It is gone') },
  })
  const defect = defineResource({ uri: 'x:2', name: 'x', read: () => { throw new Error('secret') } })
  const nothing = defineResource({ uri: 'x:3', name: 'x', read: () => undefined as never })
  const { service, logged } = serviceOf({}, [gone, defect, nothing])
  fails(() => readResource(service, 'x:1', callOf()), 'not-found', /^It is gone$/)
  assert.equal(logged.length, 0)
  fails(() => readResource(service, 'x:2', callOf()), 'internal', /^Internal error$/)
  fails(() => readResource(service, 'x:3', callOf()), 'internal', /^Internal error$/)
  assert.equal(logged.length, 2)
})

test('what never settles ends with the time limit of a tool', async () => {
  const stuck = defineResource({ uri: 'x:1', name: 'x', read: () => new Promise<string>(() => {}) })
  const { service } = serviceOf({ toolTimeoutMs: 20 }, [stuck])
  const call = callOf()
  await assert.rejects(async () => readResource(service, 'x:1', call), {
    kind: 'timeout',
  })
  assert.equal(call.signal.aborted, true)
})

const review = definePrompt({
  name: 'review',
  arguments: [{ name: 'code', required: true }, { name: 'style', complete: (value) => [`${value}!`] }],
  complete: {
    code: async (value, context, call) => ({
      values: [value, context.arguments['style'] ?? 'none', call.requestId], total: 7, hasMore: true,
    }),
  },
  get: (args) => `${Object.keys(args).join()}: ${args.code}`,
})

test('a prompt gets its declared arguments, without a prototype', () => {
  const seen: unknown[] = []
  const spy = definePrompt({ name: 'spy', arguments: [{ name: 'a' }], get: (args) => {
    seen.push(args)
    return 'x'
  } })
  const service = serviceWith(review, spy)
  const message = { role: 'user', content: { type: 'text', text: 'code: x' } }
  const args = { code: 'x', other: 'y' }
  assert.deepEqual(getPrompt(service, 'review', args, callOf()), { messages: [message] })
  assert.deepEqual(getPrompt(service, 'spy', undefined, callOf()), {
    messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
  })
  assert.equal(Object.getPrototypeOf(seen[0]), null)
})

test('a prompt that resolves later is answered later', async () => {
  const slow = definePrompt({ name: 'slow', get: async () => ({ description: 'd', messages: [] }) })
  const prompt = await getPrompt(serviceWith(slow), 'slow', {}, callOf())
  assert.deepEqual(prompt, { description: 'd', messages: [] })
})

test('an unknown prompt and wrong arguments are invalid', () => {
  const service = serviceWith(review)
  const missing = ['/code', 'is missing'] as const
  const rows: readonly (readonly [string, unknown, RegExp, detail?: object])[] = [
    ['toString', {}, /^Unknown prompt: toString$/],
    ['review', {}, /^The prompt 'review' needs the argument 'code'$/, listing(missing)],
    ['review', undefined, /needs the argument 'code'/, listing(missing)],
    ['review', { code: 7 }, /^The arguments of the prompt 'review' must be strings, and 'code' is not$/,
      listing(['/code', 'must be a string'])],
    ['review', { code: 'x', other: 7 }, /must be strings, and 'other' is not/,
      listing(['/other', 'must be a string'])],
    ['review', ['x'], /^The arguments of the prompt 'review' must be an object$/,
      listing(['', 'must be an object'])],
    ['review', JSON.parse('{"__proto__":{"code":"x"}}'), /'__proto__' is not; The prompt 'review' needs/,
      listing(['/__proto__', 'must be a string'], missing)],
    ['review', JSON.parse('{"constructor":"x"}'), /needs the argument 'code'/, listing(missing)],
  ]
  for (const [name, args, message, detail] of rows) {
    fails(() => getPrompt(service, name, args, callOf()), 'invalid', message, detail)
  }
})

test('an argument of a prompt and a variable of a template are completed', async () => {
  const service = serviceWith(review, page, fixed)
  const run = (thing: Prompt | ResourceTemplate, name: string, value: string, settled?: unknown): unknown => {
    return complete(service, thing, name, value, settled, callOf())
  }
  assert.deepEqual(run(review, 'style', 'a'), { values: ['a!'], total: 1, hasMore: false })
  assert.deepEqual(run(page, 'page', 't'), { values: ['two'], total: 1, hasMore: false })
  assert.deepEqual(await run(review, 'code', 'a', { style: 's' }), {
    values: ['a', 's', 'r-1'], total: 7, hasMore: true,
  })
  assert.deepEqual(await run(review, 'code', 'a', {}), {
    values: ['a', 'none', 'r-1'], total: 7, hasMore: true,
  })
})

test('where nobody completes there are no values', () => {
  const bare = definePrompt({ name: 'bare', arguments: [{ name: 'a' }], get: () => '' })
  const service = serviceWith(bare, fixed, anything)
  const none = { values: [], total: 0, hasMore: false }
  for (const [thing, name] of [[bare, 'a'], [anything, 'q'], [fixed, 'a']] as const) {
    assert.deepEqual(complete(service, thing, name, '', undefined, callOf()), none)
  }
})

test('more than a hundred values are cut, and say so', () => {
  const many = Array.from({ length: 250 }, (_, index) => String(index))
  const get = (): string => ''
  const list = definePrompt({ name: 'list', arguments: [{ name: 'a', complete: () => many }], get })
  const whole = definePrompt({
    name: 'whole', arguments: [{ name: 'a', complete: () => ({ values: many, total: 900 }) }], get,
  })
  const service = serviceWith(list, whole)
  const run = (prompt: Prompt): unknown => complete(service, prompt, 'a', '', undefined, callOf())
  assert.deepEqual(run(list), { values: many.slice(0, 100), total: 250, hasMore: true })
  assert.deepEqual(run(whole), { values: many.slice(0, 100), total: 900, hasMore: true })
})

test('a total that is no whole number is not told', () => {
  for (const total of [1.5, Number.NaN, Infinity, '7']) {
    const prompt = definePrompt({
      name: 'p', arguments: [{ name: 'a' }], get: () => '',
      complete: { a: () => ({ values: ['a'], total }) as never },
    })
    const found = complete(serviceWith(prompt), prompt, 'a', '', undefined, callOf())
    assert.deepEqual(found, { values: ['a'] })
  }
})

test('a completion of what there is not is invalid', () => {
  const service = serviceWith(review, page)
  const rows: readonly (readonly [Prompt | ResourceTemplate, string, unknown, RegExp, detail?: object])[] = [
    [review, 'x', undefined, /^The prompt 'review' has no argument 'x'$/],
    [page, 'x', undefined, /'docs:\/\/\{page\}' has no variable 'x'$/],
    [review, 'code', { style: 7 }, /^The arguments of the context must be strings, and 'style' is not$/,
      listing(['/style', 'must be a string'])],
    [review, 'code', [], /must be an object/, listing(['', 'must be an object'])],
    [review, 'code', 'x', /must be an object/, listing(['', 'must be an object'])],
  ]
  for (const [thing, name, settled, message, detail] of rows) {
    fails(() => complete(service, thing, name, '', settled, callOf()), 'invalid', message, detail)
  }
})

test('a completer that returns no list of strings is a defect', () => {
  const rows: readonly unknown[] = [undefined, 'one', [1], { values: 'one' }, { total: 1 }]
  for (const output of rows) {
    const bad = definePrompt({
      name: 'bad', arguments: [{ name: 'a' }], get: () => '', complete: { a: () => output as never },
    })
    fails(() => complete(serviceWith(bad), bad, 'a', '', undefined, callOf()), 'internal', /Internal/)
  }
})

test('what is no thing of the catalog is not completed, and the sentence says how to name one', () => {
  const { service } = serviceOf()
  const wrong: readonly (readonly unknown[])[] = [
    [{ type: 'ref/prompt', name: 'praise' }, { name: 'article', value: 'pe' }, undefined, callOf()],
    [undefined, 'article', 'pe', undefined, callOf()],
    ['praise', 'article', 'pe', undefined, callOf()],
    [definePrompt({ name: 'praise', get: () => '' }), 'article', 5, undefined, callOf()],
  ]
  for (const given of wrong) {
    assert.throws(() => { Reflect.apply(complete, undefined, [service, ...given]) }, {
      name: 'TypeError', message: /^complete takes a prompt, .* write complete\(kernel, kernel\.catalog/,
    })
  }
})
