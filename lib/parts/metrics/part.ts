/** `GET /metrics` for Prometheus: a part that counts calls and requests. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { Metrics } from './metrics.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function metrics(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('metrics', options, [])
  const made = new Metrics()
  return {
    name: 'metrics',
    copy: kernelCopy,
    onCall: (info) => made.countCall(info),
    observe: (next) => made.countRequests(next),
    open: (kernel) => ({ endpoints: [made.endpoint(kernel)], release: () => made.close() }),
  }
}
