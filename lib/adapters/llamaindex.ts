/** Runs agents of LlamaIndex, and reads their events and results. */
import { mainTypeOf } from '../kernel/wire/media.ts'
import { earlierMessages, presentMessage } from './shared/message.ts'
import { readMember, textOfParts } from './shared/shape.ts'
import { Paragraphs, sayToolCall, sayToolResult } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, ReadResult, Reader } from '../kernel/define/adapters.ts'

type TakeStep = (context: Context, ...rest: readonly unknown[]) => Promise<object>

interface Context { sendEvent(...events: readonly object[]): void }

/** One agent of a workflow. */
interface Member {
  readonly name: string
  readonly tools: readonly { readonly metadata: { readonly name: string } }[]
  readonly takeStep: TakeStep
}

interface Workflow {
  readonly rootAgentName: string
  getAgents(): readonly Member[]
  runStream(content: unknown, options: object): AsyncIterable<object>
}

export const llamaIndex: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const theirs = agent as Workflow
    const { text, files } = presentMessage(prompt, call)
    const content = files.length === 0 ? text : [{ type: 'text', text }, ...files.map(fileOf)]
    const [workflow, rethrow] = guarded(theirs, call)
    const read = makeReader()
    const chatHistory = earlierMessages(call, true)
    for await (const event of workflow.runStream(content, { chatHistory })) {
      const shown = read(event, call)
      if (shown !== undefined) yield shown
      rethrow()
    }
    rethrow()
  },
  makeReader,
}

/**
 * A copy for one run. A step that throws leaves a run of theirs pending for ever, and its error to nobody: in
 * the copy it ends the run, and the error is thrown by the second function. It has a memory of its own too.
 */
function guarded(theirs: Workflow, call: Call): readonly [Workflow, () => void] {
  let failure: { readonly error: unknown } | undefined
  const agents = theirs.getAgents().map((member): Member => {
    const takeStep: TakeStep = async (context, ...rest) => {
      const checked: Context = Object.create(context, {
        sendEvent: {
          value(...events: readonly object[]) {
            call.signal.throwIfAborted()
            context.sendEvent(...events)
          },
        },
      }) as Context
      try {
        return await member.takeStep(checked, ...rest)
      } catch (error) {
        failure = { error }
        return { response: { role: 'assistant', content: '' }, toolCalls: [], currentAgentName: member.name }
      }
    }
    // The tool that hands over belongs to one workflow, which makes it.
    const tools = member.tools.filter(({ metadata }) => metadata.name !== 'handOff')
    return Object.create(member, { takeStep: { value: takeStep }, tools: { value: tools } }) as Member
  })
  const rootAgent = agents.find(({ name }) => name === theirs.rootAgentName)
  const options = { agents, rootAgent, logger: readMember(theirs, 'logger') }
  const copy: unknown = Reflect.construct(theirs.constructor, [options])
  return [copy as Workflow, () => {
    if (failure !== undefined) throw failure.error
  }]
}

function fileOf({ data, mediaType }: { readonly data: string; readonly mediaType: string }): object {
  if (mainTypeOf(mediaType) === 'image') {
    return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
  }
  const type = mainTypeOf(mediaType) === 'audio' ? 'audio' : 'file'
  return { type, data, mimeType: mediaType }
}

function makeReader(): ReadResult {
  /** Whether the text has come in pieces. */
  let isShown = false
  const paragraphs = new Paragraphs()
  /** How many tools have ended: an agent speaks anew behind each. */
  let ended = 0
  return (value, call) => {
    const data = readMember(value, 'data')
    const delta = readMember(data, 'delta')
    if (typeof delta === 'string') {
      if (delta !== '') isShown = true
      return paragraphs.next(ended, delta)
    }
    const id = readMember(data, 'toolId')
    const name = readMember(data, 'toolName')
    if (typeof id === 'string' && typeof name === 'string') {
      const output = readMember(data, 'toolOutput')
      const isError = readMember(output, 'isError') === true
      if (output === undefined) {
        sayToolCall(call, id, name, readMember(data, 'toolKwargs'))
      } else {
        ended++
        sayToolResult(call, id, name, readMember(output, 'result'), isError)
      }
    }
    const result = readMember(data, 'result')
    if (result === undefined) return undefined
    const object = readMember(data, 'object')
    const text = isShown ? '' : textOfParts(result)
    return object === undefined ? text : { text, data: object }
  }
}
