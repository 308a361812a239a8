/** Spans and measures of calls: a part around the author's code. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { mustBe } from '../../kernel/define/validate.ts'
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

/** `version` is that of the server. */
export function telemetry(api: OpenTelemetry, version: string): Part {
  let measure: Around | undefined
  return {
    name: 'telemetry',
    copy: kernelCopy,
    around: async (called, next) => module.use(({ telemetryOf }) => {
      measure ??= telemetryOf(api, version)
      return measure(called, next)
    }),
    traced: async (to, post) => module.use(({ postTraced }) => postTraced(api, version, to, post)),
  }
}
