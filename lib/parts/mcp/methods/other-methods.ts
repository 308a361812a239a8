/** Methods beside those of tools: loaded when the first of these is called. */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { complete, getPrompt, readResource, unknownPrompt } from '../../../kernel/run/reading.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { isName, sentenceWithin } from '../../../kernel/wire/bounded.ts'
import { openCall } from '../request/call-channel.ts'
import { cacheHints } from '../request/lists.ts'
import { nameParam } from '../request/request.ts'
import { promptResult } from '../protocol/shape.ts'
import type { Catalog } from '../../../kernel/define/catalog.ts'
import type { Prompt } from '../../../kernel/define/prompt.ts'
import type { Resource, ResourceTemplate } from '../../../kernel/define/resource.ts'
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
  const { mcp: { service }, params: { ref, argument, context }, peer: { session } } = request
  const { name, value } = isRecord(argument) ? argument : {}
  if (!isName(name) || !isName(value)) {
    throw new Fault('invalid', `'argument' must be an object with the strings 'name' and 'value'`)
  }
  const settled = isRecord(context) ? context['arguments'] : context
  const thing = completable(service.catalog, ref)
  const result = complete(service, thing, name, value, settled, openCall(request), session?.workload)
  return andThen(result, (completion) => ({ completion }))
}

/** What a reference names: a prompt by its name, a template by its own text, or a fixed resource. */
function completable(catalog: Catalog, ref: unknown): Prompt | Resource | ResourceTemplate {
  const { type, name, uri } = isRecord(ref) ? ref : {}
  if (type === 'ref/prompt' && isName(name)) {
    const prompt = catalog.prompt(name)
    if (prompt === undefined) throw unknownPrompt(name)
    return prompt
  }
  if (type === 'ref/resource' && isName(uri)) {
    const thing = catalog.template(uri) ?? catalog.resource(uri)
    if (thing === undefined) throw new Fault('invalid', `Unknown resource template: ${uri}`)
    return thing
  }
  throw new Fault('invalid', `'ref' must be { type: 'ref/prompt', name } or { type: 'ref/resource', uri }`)
}

export type OtherMethod = 'read' | 'prompt' | 'completion'

export const otherMethods: Readonly<Record<OtherMethod, McpMethod['run']>> = {
  read, prompt, completion,
}
