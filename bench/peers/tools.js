/**
 * The same fifty tools for every peer, and how most of them want the answer of one.
 */
import { z } from 'zod'
import { agent, run, tools } from '../author.js'

/** The agent's own tool, which triport makes by itself, and the forty-nine. */
export const fifty = [
  {
    name: 'execute_assistant_task', description: agent.description,
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    run: ({ prompt }) => run(prompt),
  },
  ...tools,
]

/** The same, each with a schema of zod beside its JSON Schema. */
export const fiftyOfZod = fifty.map((tool) => ({ ...tool, schema: z.fromJSONSchema(tool.inputSchema) }))

export const info = { name: agent.name, version: '1.0.0' }

/** The result of a call. */
export function resultOf(text) {
  const content = (said) => ({ content: [{ type: 'text', text: said }] })
  return text instanceof Promise ? text.then(content) : content(text)
}
