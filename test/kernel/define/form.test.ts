// Forms of other libraries' schemas: what a client gets, and what a handler.
import assert from 'node:assert/strict'
import test from 'node:test'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import { callOf } from '../../fixtures/house.ts'
import { Fault } from '../../../lib/kernel.ts'
import type { Question } from '../../../lib/kernel/define/question.ts'
import type { SchemaForm, StandardSchema } from '../../../lib/kernel/schema/standard.ts'

/** A schema of a library with a JSON Schema, which trims a name and refuses an empty one. */
function schemaOf(json: Record<string, unknown> | undefined): StandardSchema<{ name: string }> {
  return {
    '~standard': {
      version: 1, vendor: 'lib',
      validate: async (value) => {
        const name = (value as { name: string }).name.trim()
        return name === '' ? { issues: [{ message: 'is empty', path: ['name'] }] } : { value: { name } }
      },
      ...json !== undefined && { jsonSchema: { input: () => json, output: () => json } },
    },
  }
}

/** A call whose client gives one answer, and what it was asked. */
function callWith(answer: unknown): { readonly call: LiveCall; readonly asked: Question[] } {
  const asked: Question[] = []
  const call = callOf({
    protocol: 'mcp',
    can: () => true,
    ask: async (question) => {
      asked.push(question)
      return answer
    },
  })
  return { call, asked }
}

const json = {
  $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', additionalProperties: false,
  properties: {
    name: { type: 'string', format: 'email', pattern: '^(?!x).*$', description: 'Who.' },
    id: { type: 'string', format: 'uuid', pattern: '^a' }, size: { enum: ['small', 'large'] },
    count: { type: 'integer', minimum: 1 },
  },
  required: ['name'],
}

test('a client gets the form of a library\'s schema in the words that it knows', async () => {
  const { call, asked } = callWith({ action: 'accept', content: { name: ' Ann ' } })
  const answer = await call.elicit({ message: 'Who?', schema: schemaOf(json), key: 'who' })
  assert.deepEqual(answer, { action: 'accept', content: { name: 'Ann' } })
  assert.deepEqual(asked, [{
    what: 'elicit', message: 'Who?', key: 'who',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', format: 'email', description: 'Who.' },
        id: { type: 'string', pattern: '^a' }, size: { type: 'string', enum: ['small', 'large'] },
        count: { type: 'integer', minimum: 1 },
      },
      required: ['name'],
    },
  }])
})

test('an answer that the library refuses is a fault, and none is as it came', async () => {
  const schema = schemaOf(json)
  const refused = callWith({ action: 'accept', content: { name: ' ' } }).call
  await assert.rejects(refused.elicit({ message: 'Who?', schema }), (fault) => (
    fault instanceof Fault && fault.kind === 'invalid'
    && fault.message === `The client's answer does not fit the form: name: is empty`
  ))
  const declined = callWith({ action: 'decline' }).call
  assert.deepEqual(await declined.elicit({ message: 'Who?', schema }), { action: 'decline' })
})

test('what is refused while no one looks does not end the process', async () => {
  const { call } = callWith({ action: 'accept', content: { name: '' } })
  void call.elicit({ message: '', schema: schemaOf(json) })
  void call.elicit({ message: '', schema: schemaOf(undefined) })
  await new Promise(setImmediate)
})

test('the form of a schema that writes none is made by what its server knows of libraries', async () => {
  const bare = schemaOf(undefined)
  const form = { type: 'object', properties: { name: { type: 'string' } } }
  const { call, asked } = callWith({ action: 'accept', content: { name: ' Ann ' } })
  const schemaForm: SchemaForm = (...all) => {
    assert.deepEqual(all, [bare, 'input', 'schema'])
    return form
  }
  call.host = { ...call.host, adapters: { ...noAdapters, schemaForm } }
  const answer = await call.elicit({ message: 'Who?', schema: bare })
  assert.deepEqual(answer, { action: 'accept', content: { name: 'Ann' } })
  assert.deepEqual(asked, [{ what: 'elicit', message: 'Who?', schema: form }])
})

test('a schema that is no form is a mistake that says so', async () => {
  for (const [given, why] of [
    [undefined, /^call\.elicit: schema: This lib schema has no JSON .*; write schema: \{ type: 'object'/],
    [{ type: 'string' }, /^call\.elicit needs a schema of a flat object/],
    [{ type: 'object', properties: { a: { type: 'object' } } }, /whose 'a' is no string.*cannot be nested/],
  ] as const) {
    const { call, asked } = callWith({})
    await assert.rejects(call.elicit({ message: '', schema: schemaOf(given) }), {
      name: 'TypeError', message: why,
    })
    assert.deepEqual(asked, [])
  }
})
