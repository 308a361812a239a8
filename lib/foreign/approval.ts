/** What agents ask the user: whether a tool may run, and whatever else. */
import { readMember } from './shape.ts'
import type { Call } from '../define/call.ts'
import type { FormQuestion } from '../define/question.ts'

const schema = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve', description: 'Whether it may run' } },
  required: ['approve'],
}

/** Characters of a value that are shown; a model may write any number. */
const MAX_SHOWN = 4_000

/**
 * Whether the user approves. `key` is that of the question, as in `call.elicit`, where it may be left out.
 * Throws `Fault('unsupported')` where the client cannot be asked: nothing runs without the approval that it
 * needs.
 */
export async function askApproval(
  call: Call, key: string | undefined, tool: string, args: unknown,
): Promise<boolean> {
  const shown = typeof args === 'string' ? cut(args) : shownOf(args) ?? 'no arguments'
  const message = `May the tool '${cut(tool)}' run with ${shown}?`
  const { action, content } = await call.elicit({ ...key !== undefined && { key }, message, schema })
  return action === 'accept' && content['approve'] === true
}

/**
 * Asks what an agent asks in a form of its own: a text, or an object with a `message` and, for more than a
 * text, the `schema` of the answer. Resolves to the answer; to null where the user gives none. Throws as
 * `askApproval` does.
 */
export async function askFreely(call: Call, key: string, asked: unknown): Promise<unknown> {
  const named = ['message', 'question', 'reason'].map((name) => readMember(asked, name))
  const text = [asked, ...named].find((one) => typeof one === 'string')
  const message = String(text ?? shownOf(asked) ?? 'What is the answer?')
  const answer = readMember(asked, 'schema') ?? { type: 'string', title: 'Answer' }
  const isForm = readMember(answer, 'type') === 'object' || readMember(answer, 'properties') !== undefined
  const form = isForm ? answer : { type: 'object', properties: { answer }, required: ['answer'] }
  const { action, content } = await call.elicit({ key, message, schema: form as FormQuestion['schema'] })
  if (action !== 'accept') return null
  return isForm ? content : readMember(content, 'answer')
}

function cut(text: string): string {
  const left = text.length - MAX_SHOWN
  return left > 0 ? `${text.slice(0, MAX_SHOWN)}… (${left} more characters)` : text
}

/** Undefined for what JSON has nothing of. */
function shownOf(value: unknown): string | undefined {
  const json: string | undefined = JSON.stringify(value)
  return json && cut(json)
}
