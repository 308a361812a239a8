/** Calls the author's `onCall` and publishes on the diagnostics channel `triport:call`, once per call. */
import diagnostics from 'node:diagnostics_channel'
import { caught } from '../util/thenable.ts'
import type { Protocol, Runnable } from '../define/call.ts'
import type { Fault, FaultKind } from '../define/fault.ts'
import type { LiveCall } from '../define/live-call.ts'
import type { Log } from '../define/log.ts'

/** One call of an author's code, at its end. */
export interface CallInfo {
  /** What ran: `agent`, `group`, `tool`, `resource`, `resource-template` or `prompt`, and its name. */
  readonly kind: string
  readonly name: string
  readonly protocol: Protocol
  readonly requestId: string
  readonly principalId: string
  /** From the beginning to the end or the cancellation, in milliseconds. */
  readonly durationMs: number
  /** `ok`, or how it failed; a tool's result with `isError` is `failed`. */
  readonly outcome: 'ok' | FaultKind
}

export type OnCall = (info: CallInfo) => void

export type EndListener = (fault: Fault | undefined, output: unknown) => void

export const callChannel: diagnostics.Channel = diagnostics.channel('triport:call')

/** Observes a call from its beginning. A listener that throws is logged. */
export function observeCall(
  { onCall, log }: { readonly onCall: OnCall | undefined; readonly log: Log },
  call: LiveCall,
  runnable: Runnable,
): EndListener {
  const begunAt = performance.now()
  return (fault, output) => {
    const info: CallInfo = Object.freeze({
      kind: runnable.kind,
      name: runnable.name,
      protocol: call.protocol,
      requestId: call.requestId,
      principalId: call.principal.id,
      durationMs: performance.now() - begunAt,
      outcome: fault?.kind ?? (isToolError(output) ? 'failed' : 'ok'),
    })
    const failed = (cause: unknown): void => log('error', 'onCall failed', { request: call.requestId, cause })
    void caught(() => {
      callChannel.publish(info)
      return onCall?.(info)
    }, failed)
  }
}

/** Whether a tool has said that it failed. */
export function isToolError(output: unknown): boolean {
  return typeof output === 'object' && output !== null && 'isError' in output && output.isError === true
}
