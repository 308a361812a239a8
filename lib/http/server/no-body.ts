/** What is said to whoever sends a body that cannot be had, over a socket or without one. */
import { NO_ROOM, tooLarge } from './gate.ts'
import { refusalOf } from './request.ts'
import { LATE } from './unread.ts'
import type { Limits } from '../../define/limits.ts'
import type { BodyFailure } from './body.ts'
import type { Reply } from '../message/exchange.ts'
import type { HttpRequest } from './request.ts'

/** Why there is no body. It may be `cut` where nobody leaves. */
export type NoBody = BodyFailure | 'cut'

/** The refusal, in the form of the endpoint. */
export function refuseBody(request: HttpRequest, why: NoBody, limits: Limits): Reply {
  switch (why) {
    case 'too-large': return refusalOf(request, 413, tooLarge(limits))
    case 'no-room': return refusalOf(request, 503, NO_ROOM, ['Retry-After', '1'])
    case 'not-utf8': return refusalOf(request, 400, 'The body is not valid UTF-8', undefined, true)
    case 'cut': return refusalOf(request, 400, 'The body ended before it was whole')
    case 'late': return refusalOf(request, 408, LATE)
    case 'taken': return refusalOf(request, 500, `Internal error (request ${request.requestId})`)
  }
}
