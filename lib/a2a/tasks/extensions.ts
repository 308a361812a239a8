/**
 * Extensions of the protocol: what a request asks for against what the agents offer.
 *
 * What an extension does is the handler's business: it sees what was asked for as `call.extensions`. A URI
 * that nobody offers is passed over, and none stands for another version of itself.
 * Spec: A2A 1.0 §3.2.6 and §4.6; A2A 0.3 §3.6.
 */
import { A2aFault } from '../model/faults.ts'
import type { Origin } from '../../define/call.ts'
import type { A2aRequest } from './request.ts'

/** The header of 1.0 and that of 0.3: whichever a client writes, it is answered in. */
const HEADERS = ['A2A-Extensions', 'X-A2A-Extensions'] as const
/** More of one header is not looked at. */
const MAX_BYTES = 8_192
const MAX_URIS = 64
const none: readonly string[] = Object.freeze([])

/** The URIs that a request asks for, in its order, each once. */
export function requestedExtensions(origin: Pick<Origin, 'header'>): readonly string[] {
  const newer = urisOf(origin, HEADERS[0])
  const older = urisOf(origin, HEADERS[1])
  return newer.length + older.length === 0 ? none : [...new Set([...newer, ...older])]
}

/**
 * Throws the `A2aFault` for a message whose sender does not know an extension that the agents insist on.
 * Before anything is done for `send` and `stream`; other operations do not ask.
 */
export function checkExtensions({ options, exchange }: A2aRequest): void {
  const required = options.extensions?.filter((one) => one.required === true) ?? []
  if (required.length === 0) return
  const requested = requestedExtensions(exchange)
  const missing = required.find(({ uri }) => !requested.includes(uri))
  if (missing === undefined) return
  throw new A2aFault('EXTENSION_SUPPORT_REQUIRED', `This agent is only for clients with the extension `
    + `${missing.uri}; list it in the header ${HEADERS[0]}`)
}

/**
 * Headers for the answer to a message, name and value: those of what was asked for that is offered, and so is
 * active. Empty where nothing is.
 */
export function extensionHeaders({ options, exchange }: A2aRequest): readonly string[] {
  const { extensions } = options
  if (extensions === undefined || extensions.length === 0) return none
  return HEADERS.flatMap((name) => {
    const active = urisOf(exchange, name).filter((uri) => extensions.some((one) => one.uri === uri))
    return active.length === 0 ? none : [name, [...new Set(active)].join(', ')]
  })
}

function urisOf(origin: Pick<Origin, 'header'>, name: typeof HEADERS[number]): readonly string[] {
  const list = origin.header(name.toLowerCase())
  if (list === undefined) return none
  // A list that is cut ends with what may be half a URI.
  const whole = list.length <= MAX_BYTES ? list : list.slice(0, list.lastIndexOf(',', MAX_BYTES) + 1)
  return whole.split(',', MAX_URIS).map((uri) => uri.trim()).filter((uri) => uri !== '')
}
