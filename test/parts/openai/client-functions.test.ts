import assert from 'node:assert/strict'
import test from 'node:test'
import { chosenTools, mostCalls } from '../../../lib/parts/openai/client-functions.ts'

const [find, paint] = ['find', 'paint'].map((name) => ({ name, inputSchema: { type: 'object' } }))
const all = [find!, paint!]
const flat = { type: 'function', name: 'paint' }
const nested = { type: 'function', function: { name: 'paint' } }

const understood: readonly (readonly [choice: unknown, tools: readonly object[], toolChoice: unknown])[] = [
  [undefined, all, 'auto'], [null, all, 'auto'], ['auto', all, 'auto'], ['none', [], 'none'],
  ['required', all, 'required'], [flat, [paint!], { name: 'paint' }], [nested, [paint!], { name: 'paint' }],
  ...[flat, nested].flatMap((one): typeof understood => (['auto', 'required'] as const).flatMap((mode) => {
    const only = { mode, tools: [{ type: 'mcp', server_label: 'files' }, one] }
    return [
      [{ type: 'allowed_tools', ...only }, [paint!], mode],
      [{ type: 'allowed_tools', allowed_tools: only }, [paint!], mode],
    ]
  })),
  [{ type: 'allowed_tools', mode: 'auto', tools: [] }, [], 'auto'],
]

test('the tools that may be called, and whether one must be, in the words of both of OpenAI\'s APIs', () => {
  for (const [choice, clientTools, toolChoice] of understood) {
    assert.deepEqual(chosenTools(all, choice), { clientTools, toolChoice }, JSON.stringify(choice))
  }
})

const refused: readonly (readonly [choice: unknown, message: RegExp])[] = [
  ['any', /must be "auto", "none", "required"/], [7, /must be "auto"/], [[], /must be "auto"/],
  [{ type: 'function', name: 'sing' }, /names "sing", which is no function among the tools/],
  [{ type: 'function', function: { name: 'sing' } }, /names "sing"/],
  [{ type: 'function' }, /needs the name/], [{ type: 'function', name: 7 }, /needs the name/],
  [{}, /or allowed_tools$/],
  [{ type: 'web_search_preview' }, /no tools of the type "web_search_preview"/],
  [{ type: 'custom', name: 'paint' }, /no tools of the type "custom"/],
  [{ type: 'allowed_tools' }, /needs the mode/], [{ type: 'allowed_tools', mode: 'auto' }, /needs tools/],
  [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'sing' }] }, /names "sing"/],
  [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'mcp' }] }, /no function among the tools/],
]

test('how many calls one answer may have is the least that the client says', () => {
  const bodies: readonly (readonly [body: object, most: number])[] = [
    [{}, Infinity], [{ parallel_tool_calls: null, max_tool_calls: null }, Infinity],
    [{ parallel_tool_calls: true }, Infinity], [{ parallel_tool_calls: false }, 1],
    [{ max_tool_calls: 3 }, 3], [{ parallel_tool_calls: false, max_tool_calls: 3 }, 1],
  ]
  for (const [body, most] of bodies) assert.equal(mostCalls(body as never), most, JSON.stringify(body))
  for (const most of [0, -1, 1.5, '2', true]) {
    const why = /max_tool_calls must be a whole number of at least 1/
    assert.throws(() => mostCalls({ max_tool_calls: most }), why)
  }
  assert.throws(() => mostCalls({ parallel_tool_calls: 1 }), /parallel_tool_calls must be true or false/)
})

test('a function of a namespace is named as its calls are', () => {
  const tool = { name: 'files__read', inputSchema: { type: 'object' } }
  const choice = { type: 'function', namespace: 'files', name: 'read' }
  assert.deepEqual(chosenTools([...all, tool], choice), {
    clientTools: [tool], toolChoice: { name: 'files__read' },
  })
})

test('a choice of what is not among the tools is refused by its name', () => {
  for (const [choice, message] of refused) {
    assert.throws(() => chosenTools(all, choice), { kind: 'invalid', message }, JSON.stringify(choice))
  }
  assert.throws(() => chosenTools([], 'required'), { message: /no function among the tools/ })
  const long = { type: 'function', name: 'x'.repeat(10_000) }
  assert.throws(() => chosenTools(all, long), ({ message }: Error) => message.length < 300)
})
