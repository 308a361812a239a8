/**
 * A GET of an https address that a client has chosen, of which every address was checked: those are connected
 * to, and no others. Within bounds of size and time, and without following a redirect.
 */
import { utf8Of } from '../../kernel/wire/base64.ts'
import { pinnedTo } from './host.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { HostAddress } from './host.ts'

export interface PinnedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Undefined for another status than 200, whose body is not read, and for what is no UTF-8. */
  readonly text: string | undefined
}

/** It has more bytes than are read. */
export class OversizeError extends Error {}

const MAX_HEAD_BYTES = 8_192

/** Rejects with `OversizeError`, where no answer comes, and when `signal` aborts. */
export function pinnedGet(
  url: URL, addresses: readonly HostAddress[], accept: string, maxBytes: number, signal: AbortSignal,
): Promise<PinnedAnswer> {
  // Loaded here: TLS is a tenth of a start.
  const { request: requestTo } = process.getBuiltinModule('node:https')
  return new Promise((resolve, reject) => {
    const request = requestTo(url, {
      // A connection that is kept was not made to what was checked now.
      agent: false, lookup: pinnedTo(addresses), maxHeaderSize: MAX_HEAD_BYTES, signal,
      headers: { accept, 'accept-encoding': 'identity', 'user-agent': 'triport' },
    })
    const end = (act: () => void): void => {
      act()
      request.destroy()
    }
    request.on('error', reject)
    request.on('close', () => reject(new Error('No answer')))
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response
      const chunks: Buffer[] = []
      let bytes = 0
      if (status !== 200) return end(() => resolve({ status, headers, text: undefined }))
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        chunks.push(chunk)
        if (bytes > maxBytes) end(() => reject(new OversizeError(`More than ${maxBytes} bytes`)))
      })
      response.on('end', () => end(() => resolve({ status, headers, text: utf8Of(Buffer.concat(chunks)) })))
    })
    request.end()
  })
}
