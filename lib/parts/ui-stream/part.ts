/** The UI message stream of the AI SDK. */
import { limitsIn } from '../../kernel/define/limits.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { uiStreamLimits } from './limits.ts'
import { uiRoutes } from './routes.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { UiStreamLimits } from './limits.ts'

const optionNames = Object.keys(uiStreamLimits.defaults)

/** Throws `TypeError` or `RangeError` for options that cannot be meant. */
export function uiStream(options: Partial<UiStreamLimits> = {}): Part {
  requirePartOptions('uiStream', options, optionNames)
  const limits = limitsIn(uiStreamLimits, options, 'uiStream')
  return {
    name: 'ui-stream',
    copy: kernelCopy,
    optionNames,
    protocol: 'http',
    open(kernel) {
      const { endpoints, status, close } = uiRoutes(kernel, limits)
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
