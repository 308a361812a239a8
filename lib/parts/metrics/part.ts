/** `GET /metrics` for Prometheus: a part that counts calls and requests. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { Metrics } from './metrics.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function metrics(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('metrics', options, [], arguments)
  const made = new Metrics()
  let isOpen = false
  return {
    name: 'metrics',
    copy: kernelCopy,
    onCall: (info) => made.countCall(info),
    observe: (next) => made.countRequests(next),
    open(kernel) {
      if (isOpen) throw new TypeError('metrics() counts what one server does; write metrics() for each')
      isOpen = true
      return {
        endpoints: [made.endpoint(kernel)],
        release() {
          isOpen = false
          made.close()
        },
      }
    },
  }
}
