/**
 * An author's code under the house's rules: a place in the workload, a time limit, an end. The only file that
 * waits for what authors wrote.
 *
 * A plain value is answered without a promise; only a promise gets a timer and counts as running. Whatever is
 * thrown leaves here as a `Fault`, logged once.
 */
import { callChannel, observeCall } from './call-observer.ts'
import { asFault, Fault } from './fault.ts'
import type { EndListener, Runnable } from './call-observer.ts'
import type { LiveCall } from './live-call.ts'
import type { Service } from './service.ts'
import type { MaybePromise } from './store.ts'
import type { Workload } from './workload.ts'

/**
 * Runs `work` within `timeoutMs`, in which the client's thinking does not count. What comes out late, after
 * the limit or a cancellation, is dropped. Throws, or rejects with, a `Fault`.
 */
export function runHandler<T>(
  service: Service, call: LiveCall, runnable: Runnable, timeoutMs: number, work: () => MaybePromise<T>,
  session?: Workload,
): MaybePromise<T> {
  if (call.over) throw call.reason ?? new Fault('cancelled', 'The call is over')
  service.workload.check()
  session?.check()
  call.limits = service.limits
  const onEnd = service.onCall === undefined && !callChannel.hasSubscribers ? undefined
    : observeCall(service, call, runnable)
  let output
  try {
    output = work()
  } catch (error) {
    call.over = true
    const fault = failure(service, call, error)
    onEnd?.(fault, undefined)
    throw fault
  }
  if (!(output instanceof Promise)) {
    call.over = true
    onEnd?.(undefined, output)
    return output
  }
  return track(service, call, timeoutMs, output, session, onEnd)
}

function track<T>(
  service: Service, call: LiveCall, timeoutMs: number, output: Promise<T>, session: Workload | undefined,
  onEnd: EndListener | undefined,
): Promise<T> {
  const { timers, workload } = service
  workload.enter(call)
  session?.enter(call)
  return new Promise((resolve, reject) => {
    call.clock.limitAmong(timers, timeoutMs, () => {
      call.cancel(new Fault('timeout', `No result within ${timeoutMs} ms`))
    })
    call.onCancel((reason) => {
      // It goes on running, and counts for as long again; after that its place is somebody else's.
      call.clock.limit(timeoutMs, () => {
        workload.abandon(call)
        session?.leave(call)
      }, true)
      workload.notifyIfIdle()
      onEnd?.(reason, undefined)
      reject(reason)
    })
    const settle = (): boolean => {
      call.settle()
      workload.leave(call)
      session?.leave(call)
      call.clock.clear()
      const inTime = !call.over
      call.over = true
      return inTime
    }
    output.then((value) => {
      if (!settle()) return
      onEnd?.(undefined, value)
      resolve(value)
    }, (error: unknown) => {
      if (!settle()) {
        return service.log('debug', 'A handler failed after its run was over', { request: call.requestId })
      }
      const fault = failure(service, call, error)
      onEnd?.(fault, undefined)
      reject(fault)
    })
  })
}

/** What was thrown, as a `Fault`, logged with its cause if it is not one the author meant for the caller. */
function failure(service: Service, call: LiveCall, thrown: unknown): Fault {
  const fault = asFault(thrown)
  if (fault.kind !== 'internal') return fault
  service.log('error', 'A handler failed', { request: call.requestId, cause: fault.cause ?? fault })
  return fault
}
