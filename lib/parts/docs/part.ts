/** What every server shows of itself: its health, its pages, its description. */
import { serviceEndpoints } from './service-endpoints.ts'
import type { Part } from '../../kernel/server/part.ts'

export function docs(): Part {
  return { name: 'docs', open: (kernel) => ({ endpoints: serviceEndpoints(kernel) }) }
}
