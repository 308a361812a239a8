/** Asks the user whether a tool of an agent may run. */
import type { Call } from '../define/call.ts'

const schema = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve', description: 'Whether it may run' } },
  required: ['approve'],
}

/**
 * Whether the user approves. `key` is that of the question, as in `call.elicit`. Throws
 * `Fault('unsupported')` where the client cannot be asked: nothing runs without the approval that it needs.
 */
export async function askApproval(call: Call, key: string, tool: string, args: unknown): Promise<boolean> {
  const message = `May the tool '${tool}' run with ${typeof args === 'string' ? args : JSON.stringify(args)}?`
  const { action, content } = await call.elicit({ key, message, schema })
  return action === 'accept' && content['approve'] === true
}
