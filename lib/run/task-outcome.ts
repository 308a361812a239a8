/**
 * What a run leaves behind, as it is kept with its task: as JSON, so that nothing of it changes any more, and
 * what JSON cannot say is found out at once.
 */
import { isWithin } from '../wire/bounded.ts'
import { Fault } from '../define/fault.ts'
import type { Service } from './service.ts'
import type { TaskFault } from '../tasks/task.ts'

/** What stands beside a result where a task is read, in bytes. */
const BESIDE_BYTES = 1_024

/** A result. Throws `Fault('internal')` for what is no JSON, `Fault('too-large')` over `maxResultBytes`. */
export function keptResult({ limits, log }: Service, result: unknown, request: string): unknown {
  const { maxResultBytes } = limits
  let json: string | undefined
  try {
    json = JSON.stringify(result)
  } catch (cause) {
    log('error', 'A result is not JSON', { request, cause })
    throw new Fault('internal', 'Internal error', undefined, { cause })
  }
  if (json !== undefined && !isWithin(json, maxResultBytes - BESIDE_BYTES)) {
    throw new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`)
  }
  return json === undefined ? undefined : JSON.parse(json)
}

/** Why there is none: `message` is what its caller reads. */
export function keptFault(
  { log }: Service, { kind, detail }: Fault, message: string, request: string,
): TaskFault {
  // A defect shows nothing of itself.
  if (detail === undefined || kind === 'internal') return { kind, message }
  try {
    return { kind, message, detail: JSON.parse(JSON.stringify(detail)) as unknown }
  } catch (cause) {
    log('error', 'The detail of a Fault is not JSON', { request, cause })
    return { kind, message }
  }
}
