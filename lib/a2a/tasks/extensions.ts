/**
 * Extensions of the protocol: those that a request asks for against those that the agents offer. Handlers
 * implement them, by `call.extensions`. URIs that are not offered are ignored.
 * Spec: A2A 1.0 §3.2.6 and §4.6; A2A 0.3 §3.6.
 */
import { A2aFault } from '../model/faults.ts'
import type { Origin } from '../../define/call.ts'
import type { A2aRequest } from './request.ts'

/** Of 1.0 and of 0.3. A client is answered in the one that it sends. */
const HEADERS = ['A2A-Extensions', 'X-A2A-Extensions'] as const
/** More of one header is not read. */
const MAX_BYTES = 8_192
const MAX_URIS = 64
const none: readonly string[] = Object.freeze([])

/** The URIs that a request asks for, in its order, each once. */
export function requestedExtensions(origin: Pick<Origin, 'header'>): readonly string[] {
  const newer = urisOf(origin, HEADERS[0])
  const older = urisOf(origin, HEADERS[1])
  return newer.length + older.length === 0 ? none : [...new Set([...newer, ...older])]
}

/** Throws where a message does not ask for an extension that the agents require. For `send` and `stream`. */
export function checkExtensions({ options, extensions }: A2aRequest): void {
  const required = options.extensions?.filter((one) => one.required === true) ?? []
  if (required.length === 0) return
  const missing = required.find(({ uri }) => !extensions.includes(uri))
  if (missing === undefined) return
  throw new A2aFault('EXTENSION_SUPPORT_REQUIRED', `This agent is only for clients with the extension `
    + `${missing.uri}; list it in the header ${HEADERS[0]}`)
}

/** The headers of an answer, name and value: the extensions that are asked for and offered. */
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
