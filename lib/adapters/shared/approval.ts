/** What agents ask the user: whether a tool may run, and whatever else. */
import { approvalForm } from '../../floors/questions/approval-form.ts'
import { digestOf } from '../../floors/questions/form.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { readMember } from './shape.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { FormQuestion } from '../../kernel/define/question.ts'

/** A call of a tool, as it is shown to who may approve it. */
export interface ShownCall {
  /** By which its framework knows it: what is said of one call is said of all with the same id. */
  readonly id: string
  readonly tool: string
  readonly args: unknown
}

/** What the user has said of some calls. Each answer counts once, and only for the call that was shown. */
export class Approvals {
  /** By what was shown; of equal calls the answer to the first is the last. */
  readonly #left = new Map<string, boolean[]>()

  constructor(calls: readonly ShownCall[], answers: readonly boolean[]) {
    for (let at = calls.length - 1; at >= 0; at--) {
      const text = textOf(calls[at]!)
      const equal = this.#left.get(text)
      if (equal === undefined) this.#left.set(text, [answers[at] === true])
      else equal.push(answers[at] === true)
    }
  }

  /**
   * Takes the answers to some calls, in the order of these. Undefined for one that was not shown with this
   * id, name and arguments: it has to be asked.
   */
  take(calls: readonly ShownCall[]): readonly (boolean | undefined)[] {
    const answers = calls.map((one) => this.#left.get(textOf(one))?.pop())
    const idsOf = (answer: boolean | undefined): ReadonlySet<string> => (
      new Set(calls.filter((_, at) => answers[at] === answer).map(({ id }) => id))
    )
    const [declined, unshown] = [idsOf(false), idsOf(undefined)]
    return calls.map(({ id }, at) => {
      if (answers[at] !== true) return answers[at]
      // Its framework would let all of them run.
      return declined.has(id) ? false : unshown.has(id) ? undefined : true
    })
  }
}

function textOf({ id, tool, args }: ShownCall): string {
  return formatJson([id, tool, args])
}

/** Asks for each of some calls whether it may run. `keyOf` makes the key of a question. */
export async function askApprovals<One extends ShownCall>(
  call: Call, calls: readonly One[], keyOf: (one: One) => string,
): Promise<Approvals> {
  const answers = calls.map((one) => askApproval(call, keyOf(one), one.tool, one.args))
  return new Approvals(calls, await Promise.all(answers))
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
  const whole = typeof args === 'string' ? args : formatJson(args) ?? 'no arguments'
  const message = `May the tool '${cut(tool)}' run with ${cut(whole)}?`
  // Of what is shown in part, the key has the rest too: the answer is to no other call.
  const isWhole = whole.length <= MAX_SHOWN && tool.length <= MAX_SHOWN
  const name = isWhole ? key : `${key ?? 'approve'}-${digestOf([tool, whole]).slice(0, 16)}`
  const keyed = name !== undefined && { key: name }
  const answer: unknown = await call.elicit({ ...keyed, message, schema: approvalForm })
  return readMember(answer, 'action') === 'accept'
    && readMember(readMember(answer, 'content'), 'approve') === true
}

/**
 * Asks what an agent asks in a form of its own: a text, or an object with a `message` and, for more than a
 * text, the `schema` of the answer. Resolves to the answer; to null where the user gives none. Throws as
 * `askApproval` does.
 */
export async function askFreely(call: Call, key: string, asked: unknown): Promise<unknown> {
  const named = ['message', 'question', 'reason'].map((name) => readMember(asked, name))
  const text = [asked, ...named].find((one) => typeof one === 'string')
  const json = formatJson(asked)
  const message = String(text ?? (json && cut(json)) ?? 'What is the answer?')
  const answer = readMember(asked, 'schema') ?? { type: 'string', title: 'Answer' }
  const isForm = readMember(answer, 'type') === 'object' || readMember(answer, 'properties') !== undefined
  const form = isForm ? answer : { type: 'object', properties: { answer }, required: ['answer'] }
  const { action, content } = await call.elicit({ key, message, schema: form as FormQuestion['schema'] })
  if (action !== 'accept') return null
  return isForm ? content : readMember(content, 'answer')
}

/**
 * The answers to some questions, which are asked together. Null also where questions with one id are answered
 * in different ways: their framework would take one answer for all of them.
 */
export async function askEach<One extends { readonly id: string }>(
  questions: readonly One[], ask: (one: One) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const answers = await Promise.all(questions.map(ask))
  const texts = new Map<string, string | undefined>()
  const split = new Set<string>()
  for (const [at, { id }] of questions.entries()) {
    const text: string | undefined = formatJson(answers[at])
    if (texts.has(id) && texts.get(id) !== text) split.add(id)
    texts.set(id, text)
  }
  return answers.map((answer, at) => split.has(questions[at]!.id) ? null : answer)
}

function cut(text: string): string {
  const left = text.length - MAX_SHOWN
  return left > 0 ? `${text.slice(0, MAX_SHOWN)}… (${left} more characters)` : text
}
