/** `GET /metrics` for Prometheus: a part that counts calls and requests. */
import { Metrics } from './metrics.ts'
import type { Part } from '../../kernel/server/part.ts'

export function metrics(): Part {
  const made = new Metrics()
  return {
    name: 'metrics',
    onCall: (info) => made.countCall(info),
    observe: (next) => made.countRequests(next),
    open: (kernel) => ({ endpoints: [made.endpoint(kernel)], release: () => made.close() }),
  }
}
