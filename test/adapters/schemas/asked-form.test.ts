import assert from 'node:assert/strict'
import test from 'node:test'
import { defineTool } from '../../../lib/index.ts'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import { callTool } from '../../../lib/kernel/run/call-tool.ts'
import { callOf, serviceOf } from '../house.ts'
import type { Fault, StandardSchema } from '../../../lib/index.ts'
import type { Question } from '../../../lib/kernel/define/question.ts'

test('a handler asks by the schema of a library where its server knows that', async () => {
  const validate: StandardSchema['~standard']['validate'] = (value) => ({ value })
  // As zod 3 keeps it, which writes no JSON Schema.
  const text = { _def: { typeName: 'ZodString' } }
  const schema = {
    _def: { typeName: 'ZodObject', shape: () => ({ name: text }) },
    '~standard': { version: 1 as const, vendor: 'zod', validate },
  }
  const greet = defineTool({ name: 'greet', run: (_args, call) => call.elicit({ message: 'Who?', schema }) })
  const asked: Question[] = []
  const client = {
    can: () => true,
    ask: async (question: Question) => {
      asked.push(question)
      return { action: 'decline' }
    },
  }
  const { service } = serviceOf({ tools: [greet] })
  await callTool(service, greet, {}, callOf(client))
  assert.deepEqual(asked.map((question) => 'schema' in question && question.schema), [
    { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  ])
  const bare = serviceOf({ tools: [greet], adapters: noAdapters }).service
  const refused = Promise.resolve(callTool(bare, greet, {}, callOf(client)))
  await assert.rejects(refused, ({ cause }: Fault) => (
    /This zod schema has no JSON Schema form; write schema: \{ type/.test(String(cause))
  ))
})
