/**
 * Answers to a task's questions, taken from an ordinary message where a protocol has no forms (A2A): data
 * that fits the form is the answer; a text fills its only value.
 */
import { isRecord } from '../../kernel/define/content.ts'
import { compileForm } from '../../kernel/define/question.ts'
import { digestOf, filledIn, formFault } from '../questions/form.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { ElicitAnswer, Form, Question, UrlAnswer } from '../../kernel/define/question.ts'
import type { TaskQuestion, Task, TaskMessage, TaskTurn } from './task.ts'
import type { Tasks } from './tasks.ts'

/** An answer, and the parts that are left for other questions. */
interface Taken { readonly answer: ElicitAnswer | UrlAnswer; readonly left: readonly Content[] }

/**
 * The answers in a message, by the keys of their questions. One part answers one question, in the order in
 * which they were asked, data before texts. A part whose check takes more than `maxSteps` does not fit.
 */
export function answersFrom(
  open: readonly TaskQuestion[], parts: readonly Content[], maxSteps: number,
): ReadonlyMap<string, ElicitAnswer | UrlAnswer> {
  const answers = new Map<string, ElicitAnswer | UrlAnswer>()
  let left = dataFirst(parts)
  for (const { key, question } of open) {
    const taken = answerFrom(question, left, maxSteps)
    if (taken === undefined) continue
    answers.set(key, taken.answer)
    left = taken.left
  }
  return answers
}

/** What a turn keeps of its answers. */
type Kept = Pick<TaskTurn, 'answers' | 'asked'>

/** The answers of a turn with more of them, each beside what was asked. */
export function withAnswers(
  { answers, asked }: Kept, more: ReadonlyMap<string, unknown>, questions: readonly TaskQuestion[],
): Kept {
  const given = questions.filter(({ key }) => more.has(key))
  return {
    answers: { ...answers, ...Object.fromEntries(more) },
    asked: { ...asked, ...Object.fromEntries(given.map(({ key, question }) => [key, digestFor(question)])) },
  }
}

/** The answer that was given to this question; a run that begins again may ask another one by its key. */
export function keptAnswer({ answers, asked = {} }: Kept, key: string, question: Question): unknown {
  const isSame = Object.hasOwn(asked, key) && asked[key] === digestFor(question)
  return isSame && Object.hasOwn(answers, key) ? answers[key] : undefined
}

/** Of what is asked, without what is made anew in each run. */
function digestFor(question: Question): string {
  const { key: _key, elicitationId: _id, task: _task, ...asked } = (
    { elicitationId: undefined, task: undefined, ...question }
  )
  return digestOf(asked)
}

/** A question as parts of a message: its text for people, its form as data for programs. */
export function questionParts(question: Question): readonly Content[] {
  if (question.what === 'elicit') {
    return [{ type: 'text', text: question.message }, { type: 'data', data: { schema: question.schema } }]
  }
  if (question.what !== 'elicit-url') return []
  const { message, url } = question
  return [{ type: 'text', text: message }, { type: 'resource_link', uri: url, name: new URL(url).host }]
}

function answerFrom(question: Question, parts: readonly Content[], maxSteps: number): Taken | undefined {
  // A client that goes on has opened the address.
  if (question.what === 'elicit-url') return { answer: { action: 'accept' }, left: parts }
  if (question.what !== 'elicit') return undefined
  const fits = compileForm(question.schema)
  for (const part of parts) {
    const content = contentFrom(part, question)
    if (!isRecord(content) || !fits(content, maxSteps).valid) continue
    return { answer: { action: 'accept', content }, left: parts.filter((one) => one !== part) }
  }
  return undefined
}

/** Why a message answers nothing, for the one who sent it. Undefined where no form is asked. */
function whyUnfit(
  open: readonly TaskQuestion[], parts: readonly Content[], maxSteps: number,
): string | undefined {
  const form = open.map(({ question }) => question).find((question) => question.what === 'elicit')
  if (form === undefined) return undefined
  const content = dataFirst(parts).map((part) => contentFrom(part, form)).find(isRecord)
  if (content === undefined) return 'The answer has to be data that fits the form.'
  return `The answer does not fit the form: ${formFault(form.schema, content, maxSteps)}.`
}

/** A text beside data is for people. */
function dataFirst(parts: readonly Content[]): readonly Content[] {
  return [...parts.filter(({ type }) => type === 'data'), ...parts.filter(({ type }) => type !== 'data')]
}

function contentFrom(part: Content, { schema }: Form): unknown {
  if (part.type === 'data') return filledIn(part.data)
  if (part.type !== 'text') return undefined
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
  const texts = properties.filter(([, form]) => isRecord(form) && form['type'] === 'string')
  const [only] = texts.length === 1 ? texts : properties.length === 1 ? properties : []
  if (only === undefined) return undefined
  const [name, form] = only
  return { [name]: valueFrom(part.text.trim(), form) }
}

/** A text as the value that a form asks for, or as the title of one; as it is where it cannot be one. */
function valueFrom(text: string, form: unknown): unknown {
  const { type, enum: values, oneOf } = isRecord(form) ? form : {}
  if (Array.isArray(values)) return values.find((value) => isCalled(value, text)) ?? text
  if (Array.isArray(oneOf)) {
    const choices = oneOf.filter(isRecord)
    const choice = choices.find((one) => isCalled(one['const'], text) || isCalled(one['title'], text))
    return choice?.['const'] ?? text
  }
  const isNumber = type === 'number' || type === 'integer'
  if (isNumber && text !== '' && Number.isFinite(Number(text))) return Number(text)
  if (type === 'boolean' && /^(?:yes|true)$/i.test(text)) return true
  if (type === 'boolean' && /^(?:no|false)$/i.test(text)) return false
  return text
}

function isCalled(name: unknown, text: string): boolean {
  return String(name).toLowerCase() === text.toLowerCase()
}

/**
 * Adds a message to a task that waits, and passes its answers to the run, where there is one. Returns the
 * answers; undefined where questions are open and it answers none: then they are asked again.
 */
export function deliverMessage(
  tasks: Tasks, { id, questions, status: { state, message: asked } }: Task, message: TaskMessage,
  maxSteps: number,
): ReadonlyMap<string, unknown> | undefined {
  const answers = answersFrom(questions, message.parts, maxSteps)
  tasks.addMessage(id, message)
  if (questions.length > 0 && answers.size === 0) {
    const why = whyUnfit(questions, message.parts, maxSteps)
    // What is asked, not what was said of the answer before.
    const again = questions.flatMap(({ question }) => questionParts(question))
    const parts: readonly Content[] | undefined = why === undefined ? asked?.parts
      : [...again, { type: 'text', text: why }]
    tasks.move(id, state, { message: parts })
    return undefined
  }
  tasks.runOf(id)?.answer(answers)
  return answers
}
