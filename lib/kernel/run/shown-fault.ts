/** Failures as callers see them, in every protocol. */
import { asFault, Fault } from '../define/fault.ts'
import { formatJson } from '../wire/json.ts'
import type { Service } from './service.ts'

/**
 * Anything thrown, as a fault whose detail is JSON or none. A defect of a handler was logged where it ran;
 * one of ours is here, as `what`, and so is a detail that is no JSON. A defect shows nothing of itself.
 */
export function shownFault(
  { log }: Service, thrown: unknown, requestId: string, what = 'A request could not be answered',
): Fault {
  const fault = asFault(thrown)
  if (fault !== thrown) log('error', what, { request: requestId, cause: thrown })
  const { kind, message, detail, cause, retryAfterSeconds } = fault
  if (detail === undefined) return fault
  let shown: unknown
  try {
    if (kind !== 'internal') shown = JSON.parse(formatJson(detail))
  } catch (cause) {
    log('error', 'The detail of a Fault is not JSON', { request: requestId, cause })
  }
  return new Fault(kind, message, shown, { cause, retryAfterSeconds })
}
