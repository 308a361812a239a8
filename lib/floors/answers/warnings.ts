/** Mistakes in what was answered that break nothing: each is logged once for each definition and server. */
import { hasWarned, warnOnce } from '../../kernel/run/warnings.ts'
import { isTextOfData, noAnswer } from './answer.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Answer } from './answer.ts'

/** An agent whose `run` has returned undefined, or what is probably a mistake. */
export function warnOfAnswer(log: Log, agent: Agent, answer: Answer, requestId: string): void {
  const { flaw } = answer
  if (answer !== noAnswer && flaw === undefined) return
  const what = flaw ?? 'undefined, so its answer is empty; return a text, and await what it is made of'
  warnOnce(log, agent, 'answer', `The agent '${agent.name}' returned ${what}`, { request: requestId })
}

/** An agent or a group whose answer said `reply`, and cannot be that (A2A). */
export function warnOfReply(
  log: Log, runnable: Agent | Group, reply: Answer['reply'], requestId: string,
): void {
  const { kind, name } = runnable
  const replies = kind === 'agent' ? runnable.replies ?? 'task' : undefined
  const why = replies === undefined ? 'the answer of a group is a task'
    : replies === 'either' ? 'it had a task before; say it with the first piece, before any other output'
    : `its replies are '${replies}'; write replies: 'either'`
  warnOnce(log, runnable, 'reply', `The ${kind} '${name}' answered with reply: '${reply}', which it is not: `
    + why, { request: requestId })
}

/** What answered with data beside its content, where `clients` get the content alone. */
export function warnOfData(
  log: Log, about: Agent | Group | Tool, { content, data }: Pick<Answer, 'content' | 'data'>, clients: string,
  requestId: string,
): void {
  if (data === undefined || hasWarned(log, about, 'data') || isTextOfData(content, data)) return
  const { kind = 'tool', name }: { readonly kind?: string; readonly name: string } = about
  warnOnce(log, about, 'data', `The ${kind} '${name}' answered with data beside its text, which clients of `
    + `${clients} do not get; write what people need into the text`, { request: requestId })
}

/** What answered with files in the middle of a group, whose next agent and caller get its text alone. */
export function warnOfFiles(
  log: Log, { kind, name }: Agent | Group, { content }: Answer, group: Group, requestId: string,
): void {
  if (content.every(({ type }) => type === 'text')) return
  warnOnce(log, group, 'files', `The ${kind} '${name}' answered with files in the middle of the group `
    + `'${group.name}', where only its text goes on; give them in its last agent, or write an address into `
    + 'the text', { request: requestId })
}

/** What failed with more than a text, where an error has nothing else. */
export function warnOfFailure(
  log: Log, runnable: Agent | Group, { content, data, state }: Answer, requestId: string,
): void {
  const isText = content.every(({ type }) => type === 'text')
  if (isText && (data === undefined || isTextOfData(content, data))) return
  const { kind, name } = runnable
  warnOnce(log, runnable, 'failure', `The ${kind} '${name}' gave data or files with the state '${state}', of `
    + `which clients may get the text alone`, { request: requestId })
}
