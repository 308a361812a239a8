/**
 * Questions as ACP has them: a yes or no and a choice among a few are asked as a permission, which every
 * client shows; other forms and addresses as an elicitation. Spec: ACP 1, Requesting Permission, Elicitation.
 */
import { formFault } from '../../floors/questions/form.ts'
import { givenMembers, isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import type { Ability, ElicitAnswer, FormSchema, Question } from '../../kernel/define/question.ts'

/** What a client has declared. */
export interface AcpAbilities { readonly forms: boolean; readonly urls: boolean }

export const noAbilities: AcpAbilities = Object.freeze({ forms: false, urls: false })

export function abilitiesIn(capabilities: unknown): AcpAbilities {
  const { elicitation } = isRecord(capabilities) ? capabilities : {}
  const { form, url } = isRecord(elicitation) ? elicitation : {}
  return { forms: isRecord(form), urls: isRecord(url) }
}

export function canAskOverAcp({ urls }: AcpAbilities, what: Ability): boolean {
  return what === 'elicit' || what === 'roots' || (what === 'elicit-url' && urls)
}

interface Option {
  readonly name: string
  readonly kind: 'allow_once' | 'reject_once'
  readonly answer: ElicitAnswer
}

/** A question on its way to the client. */
export interface AskedQuestion {
  readonly method: 'session/request_permission' | 'elicitation/create'
  /** What is asked about, as a call of a tool: permissions are asked for one. */
  readonly title: string | undefined
  readonly params: Readonly<Record<string, unknown>>
  /** The answer in a response. Throws `Fault('invalid')` for a response that is none. */
  decode(result: unknown): unknown
}

/** Throws `Fault('unsupported')` for what this client cannot be asked. */
export function encodeAcpQuestion(
  question: Question, abilities: AcpAbilities, maxSteps: number,
): AskedQuestion {
  if (question.what === 'elicit-url') {
    const { message, url, elicitationId } = question
    return elicitation({ mode: 'url', message, url, elicitationId }, (answer) => ({
      action: answer.action, elicitationId,
    }))
  }
  if (question.what !== 'elicit') throw new Fault('unsupported', 'A client of ACP cannot be asked this')
  const { message, schema } = question
  const fit = (answer: ElicitAnswer): ElicitAnswer => {
    if (answer.action !== 'accept') return answer
    const fault = formFault(schema, answer.content, maxSteps)
    if (fault === undefined) return answer
    throw new Fault('invalid', `The client's answer does not fit the form: ${fault}`)
  }
  const options = optionsOf(schema)
  if (options !== undefined) return permission(message, options, fit)
  if (abilities.forms) return elicitation({ mode: 'form', message, requestedSchema: schema }, fit)
  throw new Fault('unsupported', 'This client has not declared elicitation.form, so it can be asked for a '
    + 'yes or no, or for one choice: a form with one boolean, or one string with an enum')
}

/** The answers to choose from; undefined for a form that has more than one choice. */
function optionsOf({ properties }: FormSchema): readonly Option[] | undefined {
  const [field, ...more] = isRecord(properties) ? Object.entries(properties) : []
  if (more.length > 0) return undefined
  const decline: Option = { name: 'Decline', kind: 'reject_once', answer: { action: 'decline' } }
  if (field === undefined) {
    return [{ name: 'Accept', kind: 'allow_once', answer: { action: 'accept', content: {} } }, decline]
  }
  const [name, property] = field
  const option = (label: string, kind: Option['kind'], value: unknown): Option => (
    { name: label, kind, answer: { action: 'accept', content: { [name]: value } } }
  )
  const { type, enum: values, oneOf } = isRecord(property) ? property : {}
  if (type === 'boolean') return [option('Yes', 'allow_once', true), option('No', 'reject_once', false)]
  if (type !== 'string') return undefined
  if (Array.isArray(values)) {
    return [...values.map((value: unknown) => option(String(value), 'allow_once', value)), decline]
  }
  if (!Array.isArray(oneOf)) return undefined
  const choices = oneOf.map((one: unknown) => {
    const { const: value, title } = isRecord(one) ? one : {}
    return option(typeof title === 'string' ? title : String(value), 'allow_once', value)
  })
  return [...choices, decline]
}

function permission(
  title: string, options: readonly Option[], fit: (answer: ElicitAnswer) => ElicitAnswer,
): AskedQuestion {
  return {
    method: 'session/request_permission',
    title,
    params: { options: options.map(({ name, kind }, index) => ({ optionId: String(index), name, kind })) },
    decode(result) {
      const { outcome: given } = isRecord(result) ? result : {}
      const { outcome, optionId } = isRecord(given) ? given : {}
      if (outcome === 'cancelled') return { action: 'cancel' }
      const chosen = outcome === 'selected' ? options.find((_, at) => optionId === String(at)) : undefined
      if (chosen === undefined) throw new Fault('invalid', `The client's answer is none of the options`)
      return fit(chosen.answer)
    },
  }
}

function elicitation(
  params: AskedQuestion['params'], finish: (answer: ElicitAnswer) => unknown,
): AskedQuestion {
  return {
    method: 'elicitation/create',
    title: undefined,
    params,
    decode(result) {
      const { action, content } = isRecord(result) ? result : {}
      if (action === 'decline' || action === 'cancel') return finish({ action })
      if (action === 'accept') {
        return finish({ action, content: isRecord(content) ? givenMembers(content) : {} })
      }
      throw new Fault('invalid', `The client's answer needs an action: accept, decline or cancel`)
    },
  }
}
