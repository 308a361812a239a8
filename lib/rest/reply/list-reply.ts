/** Lists of what a caller may use, as replies. */
import { BoundedMap } from '../../util/bounded-map.ts'
import { json } from './reply.ts'
import type { Principal } from '../../define/principal.ts'
import type { Endpoint, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

/** Sets of scopes whose lists are kept. */
const MAX_VIEWS = 64

/** Answers with a list, which is made once for each set of scopes until the catalog changes. */
export function listHandler(
  { catalog }: Service, list: (principal: Principal) => object,
): Endpoint['handle'] {
  const kept = new BoundedMap<Reply>(MAX_VIEWS)
  catalog.onChange(() => kept.clear())
  return ({ origin: { principal } }) => {
    const view = catalog.viewOf(principal)
    let reply = kept.get(view)
    if (reply === undefined) {
      reply = json(list(principal))
      kept.set(view, reply)
    }
    return reply
  }
}
