/** Spans and measures of calls: a part around the author's code. */
import { Later } from '../../kernel/util/later.ts'
import type { Around } from '../../kernel/define/around.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { OpenTelemetry } from './telemetry.ts'

const module = new Later(() => import('./telemetry.ts'))

/** `version` is that of the server. */
export function telemetry(api: OpenTelemetry, version: string): Part {
  let measure: Around | undefined
  return {
    name: 'telemetry',
    around: async (called, next) => module.use(({ telemetryOf }) => {
      measure ??= telemetryOf(api, version)
      return measure(called, next)
    }),
    traced: async (to, post) => module.use(({ postTraced }) => postTraced(api, version, to, post)),
  }
}
