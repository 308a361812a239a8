/** The UI message stream of the AI SDK. */
import { Later } from '../../kernel/util/later.ts'
import { limitsIn } from '../../kernel/define/limits.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { agentEndpoints, hasAgents, requireAgent } from '../../floors/reply/agent-endpoints.ts'
import { endpoint } from '../../floors/reply/reply.ts'
import { uiStreamLimits } from './limits.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { Chats } from './chats.ts'
import type { UiStreamLimits } from './limits.ts'

const module = new Later(() => import('./chats.ts'))
const describedBy = describer(async () => (await import('./openapi-operations.ts')).uiOperations)
const optionNames = Object.keys(uiStreamLimits.defaults)

/** Throws `TypeError` or `RangeError` for options that cannot be meant. */
export function uiStream(options: Partial<UiStreamLimits> = {}): Part {
  requirePartOptions('uiStream', options, optionNames, arguments)
  const limits = limitsIn(uiStreamLimits, options, 'uiStream')
  return {
    name: 'ui-stream',
    copy: kernelCopy,
    optionNames,
    protocol: 'http',
    open(kernel) {
      let made: Chats | undefined
      const chats = (): Chats => made ??= new module.loaded.Chats(kernel, limits)
      const status = (): Chats['status'] => made?.status ?? { count: 0, bytes: 0 }
      const posts = agentEndpoints(kernel, 'ui-stream', {
        about: { title: 'AI SDK', text: 'the chat of the main agent, for useChat', rank: 6 },
        describe: describedBy('POST', 'chat'), load: module.load,
      }, (agent, exchange) => chats().answer(agent, exchange))
      const verbs = [['GET', 'resume'], ['DELETE', 'stop']] as const
      const streams = posts.flatMap(({ path }) => verbs.map(([method, verb]) => endpoint(kernel, {
        method, path: `${path}/{chat}/stream`, describe: describedBy(method, verb),
        isOffered: hasAgents(kernel), load: module.load,
        work: (exchange) => chats()[verb](requireAgent(kernel, exchange), exchange),
      })))
      return {
        endpoints: [...posts, ...streams],
        exposes: replayHeaders,
        status: () => ({ chats: status() }),
        gauges() {
          const { count, bytes } = status()
          return [
            ['triport_chats', 'Chats of the AI SDK that can be read again.', count],
            ['triport_chat_bytes', 'What is kept of the long ones.', bytes],
          ]
        },
        cancel: () => made?.close(),
      }
    },
  }
}
