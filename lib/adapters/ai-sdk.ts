/** Runs agents of the AI SDK, versions 5 to 7, and of VoltAgent, and reads what their functions return. */
import { isApproval, outputOf, partReader } from './ai-parts.ts'
import { askApprovals } from './shared/approval.ts'
import { earlierMessages, withPresent } from './shared/message.ts'
import { membersIn, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import type { Call } from '../kernel/define/call.ts'
import type { MaybePromise } from '../kernel/util/thenable.ts'
import type { Adapter, Reader, Shown } from '../kernel/define/adapters.ts'
import type { AttachedFile } from './shared/message.ts'
import type { PlainMembers } from './shared/shape.ts'
import type { AgentStep } from './shared/steps.ts'

/** What its agents have in common; `stream` of version 5 is no promise. */
interface AiSdkAgent {
  readonly settings?: PlainMembers
  generate(options: object): Promise<object>
  stream(options: object): MaybePromise<object>
}

interface VoltAgent { streamText(messages: readonly object[], options: object): Promise<object> }

/** A result that is a stream. */
interface Streamed {
  readonly fullStream?: AsyncIterable<object>
  /** What was said in all steps, from version 7 on; the response of the last step has it before. */
  readonly responseMessages?: PromiseLike<readonly object[]>
  readonly steps: PromiseLike<readonly { readonly response: { readonly messages: readonly object[] } }[]>
}

/** What an agent has said, and what it must not do before it is allowed. */
interface State {
  readonly messages: readonly object[]
  readonly approvals: readonly PlainMembers[]
}

/** Gives messages to an agent. */
type Start = (messages: readonly object[]) => MaybePromise<object>

export const aiSdk: Adapter & Reader = {
  run(agent, prompt, call) {
    const theirs = agent as AiSdkAgent
    const has = (name: string): boolean => theirs.settings?.[name] !== undefined
    // Streams of version 5 have no output for machines.
    const method = has('experimental_output') ? 'generate' : 'stream'
    return runWith((messages) => (
      theirs[method]({ messages, abortSignal: call.signal, allowSystemInMessages: true })
    ), agent, has('instructions') || has('system'), prompt, call)
  },
  makeReader: () => partReader(),
}

/** The parts of a result that is a stream, and what it has for machines. */
export async function* parts(result: object): AsyncGenerator<object> {
  yield* (result as Streamed).fullStream ?? []
  const data = await outputOf(result)
  if (data !== undefined) yield { data }
}

export const voltAgent: Adapter = {
  run(agent, prompt, call) {
    const theirs = agent as VoltAgent
    const options = { abortSignal: call.signal }
    return runWith((messages) => theirs.streamText(messages, options), agent, true, prompt, call)
  },
}

function runWith(
  start: Start, agent: object, hasInstructions: boolean, prompt: string, call: Call,
): AsyncIterable<Shown> {
  const asked = withPresent(earlierMessages(call, hasInstructions), prompt, call, partOfFile)
  const owner = `ai-sdk ${String(readMember(agent, 'id') ?? readMember(agent, 'name'))}`
  return runSteps<State, readonly object[]>(call, owner, (state, answers = []) => (
    step(start, asked, [...state?.messages ?? [], ...answers], call)
  ), ({ approvals }) => askFor(approvals, call))
}

async function* step(
  start: Start, asked: readonly object[], since: readonly object[], call: Call,
): AgentStep<State> {
  const result = await start([...asked, ...since])
  const read = partReader()
  if (!('fullStream' in result)) {
    yield read(result, call) ?? ''
    return undefined
  }
  const streamed = result as Streamed
  const approvals: PlainMembers[] = []
  for await (const part of streamed.fullStream ?? []) {
    if (isApproval(part)) {
      approvals.push(membersIn(part))
      continue
    }
    const shown = read(part, call)
    if (shown !== undefined) yield shown
  }
  if (approvals.length > 0) {
    const messages = await streamed.responseMessages ?? (await streamed.steps).at(-1)?.response.messages ?? []
    return { messages: [...since, ...messages], approvals }
  }
  const data = await outputOf(result)
  if (data !== undefined) yield { data }
  return undefined
}

/** The answers to what the agent has asked, as the next message. */
async function askFor(approvals: readonly PlainMembers[], call: Call): Promise<readonly object[]> {
  const asked = approvals.map(({ approvalId, toolCall }) => {
    const { toolCallId, toolName, input: args } = membersIn(toolCall)
    // An answer is to an approval, and what then runs is found by the call.
    return { approvalId, id: String(toolCallId ?? approvalId), tool: String(toolName), args }
  })
  const answers = await askApprovals(call, asked, ({ approvalId }) => `approve-${String(approvalId)}`)
  const approved = answers.take(asked)
  const content = asked.map(({ approvalId }, at) => (
    { type: 'tool-approval-response', approvalId, approved: approved[at] === true }
  ))
  return [{ role: 'tool', content }]
}

function partOfFile({ data, mediaType, name }: AttachedFile): object {
  return { type: 'file', data, mediaType, ...name !== undefined && { filename: name } }
}
