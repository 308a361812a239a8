import assert from 'node:assert/strict'
import test from 'node:test'
import { definePrompt } from '../../../lib/kernel/define/prompt.ts'
import { promptResultOf } from '../../../lib/kernel/run/read-output.ts'
import type { Call } from '../../../lib/kernel/define/call.ts'

const call = {} as Call

test('a prompt is frozen, and a prompt is itself', () => {
  const prompt = definePrompt({
    name: 'review',
    description: 'Reviews code.',
    arguments: [{ name: 'code', required: true }, { name: 'style', title: 'Style' }],
    get: ({ code, style }) => `Review ${code} in ${style ?? 'any'} style`,
  })
  for (const part of [prompt, prompt.arguments, prompt.arguments[0]]) assert.ok(Object.isFrozen(part))
  assert.equal(prompt.kind, 'prompt')
  assert.deepEqual(prompt.arguments, [{ name: 'code', required: true }, { name: 'style', title: 'Style' }])
  assert.equal(prompt.get({ code: 'x' }, call), 'Review x in any style')
  assert.equal(definePrompt(prompt), prompt)
})

test('a prompt needs no arguments and no description', () => {
  const prompt = definePrompt({ name: 'hello', get: () => 'Hello' })
  assert.deepEqual(prompt.arguments, [])
  assert.deepEqual(prompt.scopes, [])
  assert.equal(prompt.description, '')
  assert.equal(prompt.completers.size, 0)
})

test('a prompt may be an object with methods and state', () => {
  class Greeting {
    name = 'greeting'
    #word = 'Hello'
    get(): string { return this.#word }
  }
  assert.equal(definePrompt(new Greeting()).get({}, call), 'Hello')
})

test('the arguments of get are typed by their declaration', () => {
  definePrompt({
    name: 'typed',
    arguments: [{ name: 'must', required: true }, { name: 'may' }],
    get: (args) => {
      const must: string = args.must
      const may: string | undefined = args.may
      // @ts-expect-error an optional argument may be missing
      const wrong: string = args.may
      // @ts-expect-error no such argument
      return must + may + wrong + String(args.none)
    },
  })
})

test('a completer stands beside its argument or by its name on the prompt', () => {
  const one = (): readonly string[] => ['one']
  const two = (): readonly string[] => ['two']
  const prompt = definePrompt({
    name: 'p', arguments: [{ name: 'a', complete: one }, { name: 'b' }], complete: { b: two }, get: () => '',
  })
  assert.deepEqual([...prompt.completers], [['a', one], ['b', two]])
  assert.deepEqual(prompt.arguments, [{ name: 'a' }, { name: 'b' }])
})

test('a copy of a prompt keeps its completers', () => {
  const complete = (): readonly string[] => ['one']
  const prompt = definePrompt({ name: 'p', arguments: [{ name: 'a', complete }], get: () => '' })
  const copy = definePrompt({ ...prompt, name: 'q' })
  assert.equal(copy.name, 'q')
  assert.deepEqual([...copy.completers], [['a', complete]])
})

test('a mistake in a definition says what to write instead', () => {
  const get = (): string => ''
  const complete = (): readonly string[] => []
  const rows: readonly (readonly [unknown, RegExp])[] = [
    ['x', /definePrompt takes an object, not "x"\. Write definePrompt\(\{ name: 'review'/],
    [{ get }, /A prompt needs 'name'/],
    [{ name: 'a b', get }, /The prompt 'a b' has a name that clients refuse; use 1 to 128 of/],
    [{ name: 'a'.repeat(129), get }, /has a name that clients refuse/],
    [{ name: 'p', get, description: 7 }, /has description 7; write a string, or leave it out/],
    [{ name: 'p' }, /needs 'get': a function, not undefined/],
    [{ name: 'p', get, arguments: { a: {} } }, /has arguments an object; write a list, as in arguments: \[/],
    [{ name: 'p', get, arguments: ['a', {}] }, /The prompt 'p' has the argument "a"; write \{ name: "a" \}$/],
    [{ name: 'p', get, arguments: [null] }, /has the argument null; write \{ name: "code" \}$/],
    [{ name: 'p', get, arguments: [{}] }, /An argument of the prompt 'p' needs 'name'.*not undefined/],
    [{ name: 'p', get, arguments: [{ name: 'a' }, { name: 'a' }] }, /two arguments named 'a'; rename one/],
    [{ name: 'p', get, arguments: [{ name: 'a' }], complete: { b: complete } }, /completes 'b', .*it has a/],
    [{ name: 'p', get, complete: { b: complete } }, /completes 'b', .*it has none/],
    [{ name: 'p', get, arguments: [{ name: 'a', complete: 7 }] }, /completes 'a' with 7; write a function/],
    [{ name: 'p', get, arguments: [{ name: 'a', complete }], complete: { a: complete } }, /'a' twice/],
    [{ name: 'p', run: get },
      /The prompt 'p' needs 'get': a function, not undefined\. Rename its 'run' to 'get'$/],
    [{ name: 'p', get, tittle: 'x' }, /The prompt 'p' has no option 'tittle'; did you mean 'title'\?/],
    [{ name: 'p', get, kind: 'tool' }, /The prompt 'p' has the kind "tool"; put it into 'tools'/],
    [{ name: 'p', get, kind: 'prompt', completers: {} }, /The prompt 'p' has no option 'completers'/],
    [{ name: 'p', get, icons: [7] }, /has icons without a src/],
    [{ name: 'p', get, arguments: [{ name: 'a', requierd: true }] },
      /The argument 'a' of the prompt 'p' has no option 'requierd'; did you mean 'required'\?/],
    [{ name: 'p', get, arguments: [{ name: 'a', required: 'yes' }] },
      /has required "yes"; write true or false/],
    [{ name: 'p', get, arguments: [{ name: 'a', title: 7 }] },
      /The argument 'a' of the prompt 'p' has title 7/],
  ]
  for (const [given, message] of rows) {
    assert.throws(() => definePrompt(given as never), { name: 'TypeError', message })
  }
})

test('what a prompt writes gets its normal form', () => {
  const picture = (data: unknown): object => {
    return { role: 'assistant', content: { type: 'image', data, mimeType: 'image/png' } }
  }
  const embedded = (blob: unknown): object => {
    return { role: 'user', content: { type: 'resource', resource: { uri: 'x:1', blob } } }
  }
  const hi = { role: 'user', content: { type: 'text', text: 'hi' } }
  const rows: readonly (readonly [unknown, unknown])[] = [
    ['hi', { messages: [hi] }],
    [[{ role: 'user', content: 'hi' }], { messages: [hi] }],
    [{ messages: [{ role: 'user', content: 'hi' }] }, { messages: [hi] }],
    [{ description: 'd', messages: [hi] }, { description: 'd', messages: [hi] }],
    [[], { messages: [] }],
    [[picture(new Uint8Array([1]))], { messages: [picture('AQ==')] }],
    [[embedded(new Uint8Array([1]))], { messages: [embedded('AQ==')] }],
  ]
  for (const [output, expected] of rows) assert.deepEqual(promptResultOf(output), expected)
})

test('what is no text and no messages is a mistake', () => {
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /A prompt returned undefined; return a string, a list/],
    [7, /A prompt returned 7/],
    [{ description: 'd' }, /A prompt returned an object/],
    [['hi'], /has the role undefined; write 'user' or 'assistant'/],
    [[{ role: 'system', content: 'hi' }], /has the role "system"/],
    [[{ role: 'user' }], /has the content undefined; write a string or one content block/],
    [[{ role: 'user', content: [{ type: 'text', text: 'a' }] }], /has the content an array/],
  ]
  for (const [output, message] of rows) {
    assert.throws(() => promptResultOf(output), { name: 'TypeError', message })
  }
  const messages = [{ role: 'user', content: { type: 'txt', text: 'a' } }]
  assert.throws(() => promptResultOf(messages), (error: Error) => {
    return /has the type "txt"; did you mean 'text'\?/.test((error.cause as Error).message)
  })
})
