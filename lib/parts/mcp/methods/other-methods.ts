/** Methods beside those of tools: loaded when the first of these is called. */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { complete, getPrompt, readResource } from '../../../kernel/run/reading.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { sentenceWithin } from '../../../kernel/wire/bounded.ts'
import { openCall } from '../request/call-channel.ts'
import { cacheHints } from '../request/lists.ts'
import { nameParam } from '../request/request.ts'
import { promptResult } from '../protocol/shape.ts'
import type { McpRequest } from '../request/request.ts'
import type { McpMethod, McpResult } from './extension.ts'

export { listen } from './listen.ts'

function read(request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { mcp, peer } = request
  const call = openCall(request, ['resources/read', uri])
  const cache = peer.revision.stamps ? cacheHints(request) : {}
  const missing = (error: unknown): never => {
    // A handler's own fault gets the address too.
    if (error instanceof Fault && error.kind === 'not-found') {
      const detail = { ...isRecord(error.detail) && error.detail, uri: sentenceWithin(uri) }
      throw new Fault('not-found', error.message, detail)
    }
    throw error
  }
  try {
    const contents = readResource(mcp.service, uri, call, peer.session?.workload)
    if (!isThenable(contents)) return { contents, ...cache }
    return contents.then((later) => ({ contents: later, ...cache }), missing)
  } catch (error) {
    return missing(error)
  }
}

function prompt(request: McpRequest): McpResult {
  const name = nameParam(request, 'name')
  const { mcp, params: { arguments: args = {} }, peer: { revision, session } } = request
  const call = openCall(request, ['prompts/get', name, args])
  const result = getPrompt(mcp.service, name, args, call, session?.workload)
  return andThen(result, (prompt) => promptResult(prompt, revision))
}

function completion(request: McpRequest): McpResult {
  const { mcp, params: { ref, argument, context }, peer: { session } } = request
  const result = complete(mcp.service, ref, argument, context, openCall(request), session?.workload)
  return andThen(result, (completion) => ({ completion }))
}

export type OtherMethod = 'read' | 'prompt' | 'completion'

export const otherMethods: Readonly<Record<OtherMethod, McpMethod['run']>> = {
  read, prompt, completion,
}
