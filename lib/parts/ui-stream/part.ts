/** The UI message stream of the AI SDK. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { rejectUnknown } from '../../kernel/define/validate.ts'
import { uiRoutes } from './routes.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function uiStream(options: Readonly<Record<string, never>> = {}): Part {
  rejectUnknown('uiStream', options, [])
  return {
    name: 'ui-stream',
    copy: kernelCopy,
    protocol: 'http',
    open(kernel) {
      const { endpoints, status, close } = uiRoutes(kernel)
      return {
        endpoints,
        exposes: replayHeaders,
        status: () => ({ chats: status() }),
        gauges() {
          const { count, bytes } = status()
          return [
            ['triport_chats', 'Chats of the AI SDK that can be read again.', count],
            ['triport_chat_bytes', 'What is kept of the long ones.', bytes],
          ]
        },
        cancel: close,
      }
    },
  }
}
