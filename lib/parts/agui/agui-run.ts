/**
 * One run of AG-UI as its events. A message or a step that is open ends before something else begins.
 * Spec: AG-UI 1.0, Events.
 */
import { artifactOf } from '../../kernel/define/artifact.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { textOfBlock, textOfBlocks } from '../../floors/reply/markdown.ts'
import { OpenPart } from '../../floors/reply/open-part.ts'
import { answerOnce, requestIn } from '../../floors/reply/agent-run.ts'
import { patchFault } from './json-patch.ts'
import { InterruptRounds } from './questions.ts'
import { decodeRunInput } from './run-input.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { ArtifactInput } from '../../kernel/define/artifact.ts'
import type { CallChannel } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { PartForm } from '../../floors/reply/open-part.ts'
import type { RunWriter } from '../../floors/reply/run.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { PublicFailure } from '../../floors/reply/reply.ts'
import type { RunEvent } from '../../floors/answers/run-event.ts'
import type { AgentFace } from '../../floors/reply/agent-run.ts'
import type { StateSeal } from './questions.ts'
import type { RunInput } from './run-input.ts'

/** Of AG-UI; clients of before 1.0 know of none. */
const VERSION = '1.0'

/** Answers a run. Throws, or rejects with, a `Fault` before its first event. */
export function answerRun(
  service: Service, sealing: StateSeal, agent: Agent | Group, exchange: Exchange,
): MaybePromise<Reply> {
  const input = requestIn(service, exchange, decodeRunInput)
  const work = { identity: { agui: agent.id, body: exchange.body }, isStream: true }
  const face = new AguiFace(input)
  return answerOnce(service, exchange, agent, input, face, work, (run) => {
    run.call.channel = asking(service, sealing, agent, input, run, face)
    return run.events()
  })
}

function asking(
  service: Service, sealing: StateSeal, agent: Agent | Group, input: RunInput, run: RunWriter<Answer>,
  face: AguiFace,
): CallChannel {
  const { call } = run
  // Made when they are needed: few runs ask.
  let made: InterruptRounds | undefined
  const rounds = (): InterruptRounds => made ??= new InterruptRounds(
    call, service, [call.principal.id, agent.id, input.threadId, input.prompt], input.resume, sealing,
    (questions) => void run.emit({ type: 'questions', questions }),
  )
  if (input.resume.length > 0) face.check = rounds
  return {
    asksByReturning: true,
    can: (what) => what === 'elicit' || what === 'elicit-url',
    ask: (question) => rounds().ask(question),
    once: (key, fn) => rounds().once(key, fn),
    artifact: run.artifact.bind(run),
    event: run.event.bind(run),
    log: run.log.bind(run),
  }
}

class AguiFace implements AgentFace {
  readonly takesSteps = true
  readonly takesArtifacts = true
  /** It has asked. */
  isOver = false
  /** Whether what it is resumed with are answers to its questions: an event where not, as AG-UI demands. */
  check?: () => unknown
  readonly #isVersioned: boolean
  /** JSON; '' of a run that goes on from none. */
  readonly #parent: string
  /** What an event says of its run. */
  readonly #names: string
  readonly #part = new OpenPart(parts)
  #step: string | undefined
  #hasPiece = false

  constructor({ threadId, runId, parentRunId, isVersioned }: RunInput) {
    this.#isVersioned = isVersioned
    this.#parent = parentRunId === undefined ? '' : `,"parentRunId":${quote(parentRunId)}`
    this.#names = `"threadId":${quote(threadId)},"runId":${quote(runId)}`
  }

  begin(): string {
    const version = this.#isVersioned ? `,"protocolVersion":"${VERSION}"` : ''
    return formatEvent(`{"type":"RUN_STARTED",${this.#names}${this.#parent}${version}}`)
  }

  event(event: RunEvent, call: LiveCall): string {
    switch (event.type) {
      case 'step': return this.#beginStep(event.agent)
      case 'piece': {
        const { content, agent } = event
        const step = agent?.name === this.#step ? '' : agent === undefined ? this.#endStep()
          : this.#beginStep(agent)
        const isFirst = !this.#hasPiece
        this.#hasPiece = true
        return step + this.#part.say('text', textOfBlock(content, isFirst))
      }
      case 'reasoning': return this.#part.say('reasoning', event.text)
      case 'tool-call': return this.#call(event.id, event.name, event.args)
      case 'tool-result': {
        const { id: toolCallId, result = '', isError } = event
        const content = typeof result === 'string' ? result : formatJson(result)
        const metadata = isError === true ? { isError } : undefined
        const messageId = randomUuid()
        return this.#part.event({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, metadata })
      }
      case 'artifact': return this.#part.event(eventOfArtifact(event.artifact))
      case 'questions': {
        this.isOver = true
        const outcome = `{"type":"interrupt","interrupts":${formatJson(event.questions)}}`
        return this.#endStep() + this.#finish(outcome, call)
      }
      default: return ''
    }
  }

  end({ content, data, toolCalls = [] }: Answer, call: LiveCall): string {
    // An answer that came whole is one piece, and of no agent of a group.
    const text = this.#endStep() + (this.#hasPiece ? '' : this.#part.say('text', textOfBlocks(content, true)))
    const calls = toolCalls.map(({ id, name, args }) => this.#call(id, name, args)).join('')
    const pending = toolCalls.length === 0 ? ''
      : `,"pendingToolCallIds":${formatJson(toolCalls.map(({ id }) => id))}`
    return text + calls + this.#finish(`{"type":"success"${pending}}`, call, data)
  }

  failed({ fault, message }: PublicFailure, call: LiveCall): string {
    const error = `"message":${quote(message)},"code":"${fault.kind}"${usageOf(call)}`
    return this.#endStep() + this.#part.close() + formatEvent(`{"type":"RUN_ERROR",${error}}`)
  }

  dismissed({ fault, message }: PublicFailure): string {
    return formatEvent(`{"type":"RUN_ERROR","message":${quote(message)},"code":"${fault.kind}"}`)
  }

  /** `outcome` is JSON. */
  #finish(outcome: string, call: LiveCall, result?: unknown): string {
    // AG-UI has no null here.
    const made = result === undefined || result === null ? '' : `"result":${formatJson(result)},`
    const members = `${this.#names},${made}"outcome":${outcome}${usageOf(call)}`
    return this.#part.close() + formatEvent(`{"type":"RUN_FINISHED",${members}}`)
  }

  #call(toolCallId: string, toolCallName: string, args: unknown = {}): string {
    return this.#part.event({ type: 'TOOL_CALL_START', toolCallId, toolCallName })
      + this.#part.event({ type: 'TOOL_CALL_ARGS', toolCallId, delta: formatJson(args) })
      + this.#part.event({ type: 'TOOL_CALL_END', toolCallId })
  }

  #beginStep({ name }: Agent | Group): string {
    const ended = this.#endStep()
    this.#step = name
    return ended + this.#part.event({ type: 'STEP_STARTED', stepName: name })
  }

  #endStep(): string {
    const stepName = this.#step
    this.#step = undefined
    return stepName === undefined ? '' : this.#part.event({ type: 'STEP_FINISHED', stepName })
  }
}

function usageOf({ usage }: LiveCall): string {
  return usage === undefined ? '' : `,"usage":${formatJson([usage])}`
}

const parts: PartForm = {
  begin(kind, id) {
    if (kind === 'text') return partEvent('TEXT_MESSAGE_START', id, ',"role":"assistant"')
    return partEvent('REASONING_START', id) + partEvent('REASONING_MESSAGE_START', id, ',"role":"reasoning"')
  },
  grow(kind, id, delta) {
    const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    return partEvent(type, id, `,"delta":${delta}`)
  },
  end(kind, id) {
    if (kind === 'text') return partEvent('TEXT_MESSAGE_END', id)
    return partEvent('REASONING_MESSAGE_END', id) + partEvent('REASONING_END', id)
  },
}

/** `more`: further members in JSON. */
function partEvent(type: string, id: string, more = ''): string {
  return formatEvent(`{"type":"${type}","messageId":"${id}"${more}}`)
}

/**
 * The artifact `state` is the state of the thread, or with `append` a JSON Patch to it. Throws `TypeError`
 * for what is neither: clients would end the run.
 */
function eventOfArtifact(input: ArtifactInput): object {
  const { name = 'artifact', parts } = artifactOf(input)
  const values = parts.map(valueOf)
  if (name !== 'state') return { type: 'CUSTOM', name, value: values }
  const [state] = values
  if (values.length !== 1) {
    throw new TypeError(`call.artifact 'state' has ${values.length} parts; write one, as in `
      + `parts: [{ type: 'data', data: { cups: 1 } }]`)
  }
  if (input.append !== true) return { type: 'STATE_SNAPSHOT', snapshot: state }
  const fault = patchFault(state)
  if (fault !== undefined) {
    throw new TypeError(`call.artifact 'state' with append needs a JSON Patch, as in parts: [{ `
      + `type: 'data', data: [{ op: 'replace', path: '/cups', value: 2 }] }]; its data ${fault}`)
  }
  return { type: 'STATE_DELTA', delta: state }
}

/** Text and data as values, files as their blocks. */
function valueOf(part: Content): unknown {
  if (part.type === 'data') return part.data
  return part.type === 'text' ? part.text : part
}
