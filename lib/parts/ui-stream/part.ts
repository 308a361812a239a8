/** The UI message stream of the AI SDK. */
import { uiRoutes } from './routes.ts'
import type { Part } from '../../kernel/server/part.ts'

export function uiStream(): Part {
  return {
    name: 'ui-stream',
    protocol: 'http',
    open(kernel) {
      const { endpoints, status, close } = uiRoutes(kernel)
      return {
        endpoints,
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
