/**
 * What the protocols of one server share, made once by `kernel/server/service.ts`; and the mistakes of an
 * author that break nothing, each logged once per server and not with every call.
 */
import { isAdapted, isBareFunction } from '../define/agent.ts'
import { isTextOfData, noAnswer } from '../define/answer.ts'
import type { Agent, Group } from '../define/agent.ts'
import type { Answer } from '../define/answer.ts'
import type { Adapters } from '../define/adapters.ts'
import type { Around } from '../define/around.ts'
import type { Trace } from '../define/call.ts'
import type { Catalog } from '../define/catalog.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { Tool } from '../define/tool.ts'
import type { Sharing } from '../store/sharing.ts'
import type { Store } from '../store/store.ts'
import type { Timers } from '../util/timers.ts'
import type { OnCall } from './call-observer.ts'
import type { Workload } from './workload.ts'

/**
 * Posts to another server within a span, a child of what is active, else of `trace`. `post` gets the headers
 * that carry the span.
 */
export type Traced = <T extends { readonly status: number }>(
  to: { readonly url: string; readonly trace: Trace },
  post: (headers: Readonly<Record<string, string>>) => Promise<T>,
) => Promise<T>

export interface Service {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly catalog: Catalog
  /** What knows answers of other frameworks. */
  readonly adapters: Adapters
  readonly limits: Limits
  readonly log: Log
  /** Shows the message of an unexpected error to callers. For development. */
  readonly exposeErrors: boolean
  readonly workload: Workload
  readonly timers: Timers
  readonly onCall: OnCall | undefined
  readonly around: Around | undefined
  /** Undefined without telemetry. */
  readonly traced: Traced | undefined
  readonly store: Store
  /** Defined where processes share the store. */
  readonly sharing: Sharing | undefined
  /** What `make` makes of this server when it is first asked for: the same for all who ask. */
  use<T extends object>(make: (service: Service) => T): T
}

/** What may be wrong with a definition: each is told once. */
type Flaw = 'description' | 'answer' | 'reply' | 'data' | 'files' | 'failure'

const warned = new WeakMap<Log, WeakMap<object, Set<Flaw>>>()

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
  if (data === undefined || isKnown(log, about, 'data') || isTextOfData(content, data)) return
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

/** The agents and tools of a catalog, now and later, that have no description. */
export function warnOfSilence(log: Log, catalog: Catalog): void {
  const warn = (): void => {
    for (const tool of catalog.tools) {
      if (tool.description !== '') continue
      warnOnce(log, tool, 'description', `The tool '${tool.name}' has no description, so models cannot tell `
        + `what it is for; write description: 'Finds documents.'`)
    }
    for (const agent of catalog.agents) {
      if (agent.description !== '' || isBareFunction(agent)) continue
      const remedy = `description: 'Answers questions about orders.'`
      warnOnce(log, agent, 'description', `The agent '${agent.name}' has no description, so nobody can tell `
        + `what to ask it; write ${isAdapted(agent) ? `adapt(agent, { ${remedy} })` : remedy}`)
    }
  }
  warn()
  catalog.onChange(warn)
}

function isKnown(log: Log, about: object, flaw: Flaw): boolean {
  return warned.get(log)?.get(about)?.has(flaw) === true
}

function warnOnce(
  log: Log, about: object, flaw: Flaw, sentence: string, fields?: Readonly<Record<string, unknown>>,
): void {
  if (isKnown(log, about, flaw)) return
  const known = warned.get(log) ?? new WeakMap<object, Set<Flaw>>()
  const flaws = known.get(about) ?? new Set()
  warned.set(log, known.set(about, flaws.add(flaw)))
  log('warning', sentence, fields)
}
