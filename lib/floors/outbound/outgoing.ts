/** Headers of the requests that an author's code sends for a call, which the call itself does not show. */

/** Headers of trace context for what a call asks of others: set where the server has telemetry. */
const outgoing = new WeakMap<object, Readonly<Record<string, string>>>()

const none: Readonly<Record<string, string>> = Object.freeze({})

export function setOutgoing(call: object, headers: Readonly<Record<string, string>>): void {
  outgoing.set(call, headers)
}

/** Whether it runs in a span of the server's, itself or by the call that it is part of. */
export function hasOutgoing(call: object): boolean {
  return outgoing.has(call)
}

export function outgoingOf(call: object): Readonly<Record<string, string>> {
  return outgoing.get(call) ?? none
}
