/** Spans and measures of calls: a part around the author's code. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { mustBe, rejectMore } from '../../kernel/define/validate.ts'
import { Later } from '../../kernel/util/later.ts'
import type { Around } from '../../kernel/define/around.ts'
import type { MemberCheck } from '../../kernel/define/validate.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { OpenTelemetry } from './telemetry.ts'

const module = new Later(() => import('./telemetry.ts'))

const isTelemetry = (value: unknown): boolean => typeof value === 'object' && value !== null
  && ['trace', 'context', 'propagation', 'metrics'].every((name) => name in value)

/** Checks the option that has the API. */
export const checkTelemetry: MemberCheck =
  mustBe(isTelemetry, `write api, of import * as api from '@opentelemetry/api'`)

/**
 * Spans and measures by `api`, of `import * as api from '@opentelemetry/api'`. `version` is that of what is
 * measured; left out, the server's. Throws `TypeError` for what is no such API.
 */
export function telemetry(api: OpenTelemetry, version?: string): Part {
  rejectMore('telemetry', arguments, 'write telemetry(api), among the parts', 2)
  if (!isTelemetry(api)) {
    throw new TypeError('telemetry takes the API; write telemetry(api), of import * as api from '
      + `'@opentelemetry/api'`)
  }
  let measure: Around | undefined
  let known = version ?? ''
  return {
    name: 'telemetry',
    copy: kernelCopy,
    open(kernel) {
      known = version ?? kernel.version
      return {}
    },
    around: async (called, next) => module.use(({ telemetryOf }) => {
      measure ??= telemetryOf(api, known)
      return measure(called, next)
    }),
    traced: async (to, post) => module.use(({ postTraced }) => postTraced(api, known, to, post)),
  }
}
