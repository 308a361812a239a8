/** What every server shows of itself: its health, its pages, its description. */
import { rejectUnknown } from '../../kernel/define/validate.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function docs(options: Readonly<Record<string, never>> = {}): Part {
  rejectUnknown('docs', options, [])
  return { name: 'docs', open: (kernel) => ({ endpoints: serviceEndpoints(kernel) }) }
}
