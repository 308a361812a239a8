/**
 * Runs an author's code: counted in the workload, with a time limit. A plain value is returned without a
 * promise; only a promise gets a timer and counts as running. What is thrown becomes a `Fault`, logged once.
 */
import { isThenable } from '../util/thenable.ts'
import { callChannel, observeCall } from './call-observer.ts'
import { asFault, Fault, upstreamFault } from '../define/fault.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { EndListener } from './call-observer.ts'
import type { Runnable } from '../define/call.ts'
import type { LiveCall } from '../define/live-call.ts'
import type { Service } from './service.ts'
import type { RunLease, Workload } from './workload.ts'

/**
 * Runs `work` on what it is given within `timeoutMs`, in which the client's thinking does not count. What
 * comes out late, after the limit or a cancellation, is dropped. Throws, or rejects with, a `Fault`.
 */
export function runHandler<Given, T>(
  service: Service, call: LiveCall, runnable: Runnable, timeoutMs: number,
  work: (given: Given) => MaybePromise<T>, given: Given, session?: Workload,
): MaybePromise<T> {
  if (call.over) throw call.reason ?? new Fault('cancelled', 'The call is over')
  service.workload.check(call.origin)
  session?.check()
  call.host = service
  const onEnd = service.onCall === undefined && !callChannel.hasSubscribers ? undefined
    : observeCall(service, call, runnable)
  let output
  try {
    output = work(given)
  } catch (error) {
    call.over = true
    call.close()
    const fault = failure(service, call, runnable, error)
    onEnd?.(fault, undefined)
    throw fault
  }
  if (!isThenable(output)) {
    call.endAllReasoning()
    call.over = true
    call.close()
    onEnd?.(undefined, output)
    return output
  }
  return new AwaitedRun<T>(service, call, runnable, timeoutMs, session, onEnd).begin(output)
}

/** A run that returned a promise. One object takes less memory than the seven closures it would need. */
class AwaitedRun<T> {
  readonly #service: Service
  readonly #call: LiveCall
  readonly #runnable: Runnable
  readonly #timeoutMs: number
  readonly #session: Workload | undefined
  readonly #onEnd: EndListener | undefined
  readonly #promise: Promise<T>
  #lease: RunLease | undefined
  #sessionLease: RunLease | undefined
  #resolve: (value: T) => void = ignore
  #reject: (reason: Fault) => void = ignore

  constructor(
    service: Service, call: LiveCall, runnable: Runnable, timeoutMs: number, session: Workload | undefined,
    onEnd: EndListener | undefined,
  ) {
    this.#service = service
    this.#call = call
    this.#runnable = runnable
    this.#timeoutMs = timeoutMs
    this.#session = session
    this.#onEnd = onEnd
    this.#promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  begin(output: Promise<T>): Promise<T> {
    const { timers, workload } = this.#service
    this.#lease = workload.enter(this.#call)
    this.#sessionLease = this.#session?.enter(this.#call)
    this.#call.origin.retain?.()
    try {
      this.#call.clock.limit(this.#timeoutMs, this.#timeIsUp.bind(this), false, timers)
    } catch (error) {
      // Nothing else would give back what it holds.
      this.#settle()
      output.then(ignore, ignore)
      const fault = failure(this.#service, this.#call, this.#runnable, error)
      this.#onEnd?.(fault, undefined)
      throw fault
    }
    this.#call.onCancel(this.#cancelled.bind(this))
    output.then(this.#succeeded.bind(this), this.#failed.bind(this))
    return this.#promise
  }

  #succeeded(value: T): void {
    if (!this.#settle()) return
    this.#onEnd?.(undefined, value)
    this.#resolve(value)
  }

  #failed(error: unknown): void {
    const service = this.#service
    const call = this.#call
    if (!this.#settle()) {
      return service.log('debug', 'A handler failed after its run was over', { request: call.requestId })
    }
    const fault = failure(service, call, this.#runnable, error)
    this.#onEnd?.(fault, undefined)
    this.#reject(fault)
  }

  /** The handler's own code has ended. False where its run was over before. */
  #settle(): boolean {
    const call = this.#call
    call.settle()
    this.#giveBack()
    this.#lease?.leave()
    call.clock.clear()
    call.endAllReasoning()
    const inTime = !call.over
    call.over = true
    return inTime
  }

  #timeIsUp(): void {
    this.#call.cancel(new Fault('timeout', `No result within ${this.#timeoutMs} ms`))
  }

  #cancelled(reason: Fault): void {
    const { workload } = this.#service
    // It may ignore its signal: it counts for as long again, and is then only counted as abandoned.
    this.#call.clock.limit(this.#timeoutMs, () => {
      this.#lease?.abandon()
      this.#giveBack()
    }, true)
    workload.notifyIfIdle()
    this.#onEnd?.(reason, undefined)
    this.#reject(reason)
  }

  /** Gives back what it holds besides its lease of the workload, once. */
  #giveBack(): void {
    if (this.#call.isClosed) return
    this.#call.close()
    this.#sessionLease?.leave()
    this.#call.origin.release?.()
  }
}

function ignore(): void {}

/** What was thrown, as a `Fault`; logged with its cause unless the author threw it for the caller. */
function failure(service: Service, call: LiveCall, { kind, name }: Runnable, thrown: unknown): Fault {
  const thrownFault = asFault(thrown)
  const fault = thrownFault.kind === 'internal' ? upstreamFault(thrown) ?? thrownFault : thrownFault
  const isDefect = fault.kind === 'internal'
  if (isDefect || fault !== thrown || fault.kind === 'upstream') {
    service.log(isDefect ? 'error' : 'warning', 'A handler failed', {
      [kind]: name, protocol: call.protocol, request: call.requestId, cause: fault.cause ?? fault,
    })
  }
  return fault
}
