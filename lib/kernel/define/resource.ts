/**
 * A resource and a template of resources, as an author defines them: a URI or a form of URIs, a function
 * that reads. Checked once, then frozen. How they are run is in `reading.ts`, what comes of it in
 * `read-output.ts`. And the page of a tool, which is a resource: what makes it is given with the adapters.
 *
 * Spec: RFC 6570 (URI templates).
 */
import { isName, MAX_NAME_BYTES } from '../wire/bounded.ts'
import { parseTemplate } from '../wire/uri-template.ts'
import { completersOf, hasCompleters } from './completion.ts'
import {
  checkDefinition, describedChecks, isOfKind, must, mustBeOneOf, mustBeText, mustBeTexts, mustHave,
  requireDefinition, requireString, scopesOf,
} from './validate.ts'
import type { UriTemplate } from '../wire/uri-template.ts'
import type { Call } from './call.ts'
import type { Completer, Completers } from './completion.ts'
import type { Annotations } from './content.ts'
import type { Checks, Described } from './validate.ts'

/** One piece of what a resource holds, as an author may give it: `text`, or `blob` as bytes or base64. */
export interface ContentsInput {
  /** Left out: the URI that was read. */
  readonly uri?: string | undefined
  /** Left out: that of the definition. */
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  readonly blob?: string | Uint8Array | undefined
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

type Read = string | Uint8Array | ContentsInput | readonly ContentsInput[]

/** What `read` may return. */
export type ResourceOutput = Read | PromiseLike<Read>

/** The variables of a URI that fits a template: `{name*}` is a list, every other a string. No prototype. */
export type Variables = Readonly<Record<string, string | readonly string[]>>

interface About extends Described {
  /** For programs; `title` is for people. */
  readonly name: string
  /** Of what is read, where the contents themselves name none. */
  readonly mimeType?: string | undefined
  readonly annotations?: Annotations | undefined
  /** Anything for the client's program, in the list and beside what is read. JSON. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** What `defineResource` takes. */
export interface ResourceDefinition extends About {
  /** A whole URI, as in `docs://readme`. */
  readonly uri: string
  /** Bytes. */
  readonly size?: number | undefined
  /** What the caller's principal must have, all of it. */
  readonly scopes?: readonly string[] | undefined
  /** Returns a string, bytes, or contents. Throws `Fault('not-found')` where there is nothing to read. */
  read(call: Call): ResourceOutput
}

/** A resource, ready to be served. */
export interface Resource extends About {
  readonly kind: 'resource'
  readonly uri: string
  readonly size?: number | undefined
  readonly scopes: readonly string[]
  readonly read: (call: Call) => unknown
}

/** What `defineResourceTemplate` takes. */
export interface ResourceTemplateDefinition extends About {
  /** RFC 6570, as in `docs://{section}/{page}`. */
  readonly uriTemplate: string
  /** What the caller's principal must have, all of it. */
  readonly scopes?: readonly string[] | undefined
  /** Completers by the variable's name. */
  readonly complete?: Completers | undefined
  /**
   * Gets the variables as a client wrote them, percent-decoded: `{+path}` may hold `/` and `..`, and `{id}`
   * may be `..`. Returns a string, bytes, or contents. Throws `Fault('not-found')` where there is nothing to
   * read.
   */
  read(variables: Variables, call: Call): ResourceOutput
}

/** A template of resources, ready to be served. */
export interface ResourceTemplate extends About {
  readonly kind: 'resource-template'
  readonly uriTemplate: string
  readonly matcher: UriTemplate
  readonly scopes: readonly string[]
  /** By the variable's name. */
  readonly completers: ReadonlyMap<string, Completer>
  readonly read: (variables: Variables, call: Call) => unknown
}

const mustBeRole = mustBeOneOf('user', 'assistant')
const mustBeRoles = mustBeTexts(`['user', 'assistant']`)

const annotationChecks: Checks<Annotations> = {
  audience(owner, audience) {
    mustBeRoles(owner, audience, 'audience')
    for (const one of audience as readonly unknown[]) mustBeRole(owner, one, 'the audience')
  },
  priority: must((value) => typeof value === 'number' && value >= 0 && value <= 1,
    'write a number from 0 to 1'),
  lastModified: mustBeText,
}

const aboutChecks: Checks<About> = {
  name: true, ...describedChecks, mimeType: mustBeText,
  annotations: mustHave(annotationChecks, `{ audience: ['user'], priority: 0.5 }`),
}

export const resourceChecks: Checks<Resource> = {
  ...aboutChecks, uri: true,
  size: must((size) => Number.isSafeInteger(size) && Number(size) >= 0, 'write its bytes, or leave it out'),
  scopes: true, read: true, kind: true,
}

export const templateChecks: Checks<ResourceTemplateDefinition> & { readonly kind: true } = {
  ...aboutChecks, uriTemplate: true, scopes: true, complete: true, read: true, kind: true,
}

const copyChecks: Checks<ResourceTemplate> & Checks<ResourceTemplateDefinition> = {
  ...templateChecks, matcher: true, completers: true,
}

const EXAMPLE = `{ uri: 'docs://readme', name: 'readme', mimeType: 'text/markdown', read: () => '# Hello' }`

const TEMPLATE_EXAMPLE = `{ uriTemplate: 'docs://{page}', name: 'page', read: ({ page }) => 'About ' + page }`

/** RFC 3986 §3.1. */
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

/**
 * Checks and freezes a resource. Throws `TypeError`, also for a member that is not known; an object of a
 * class may have members of its own, which are its state.
 */
export function defineResource(definition: ResourceDefinition | Resource): Resource {
  requireDefinition('defineResource', definition, EXAMPLE, arguments)
  // What an author has frozen was not made here.
  const isMade = isOfKind(definition, 'resource') && Object.isFrozen(definition)
  if (isMade && Array.isArray(definition.scopes)) return definition as Resource
  const given = definition as ResourceDefinition
  const uri = requireString('A resource', 'uri', given)
  const owner = `The resource '${uri}'`
  if (!SCHEME.test(uri) || !URL.canParse(uri)) {
    throw new TypeError(`${owner} has no whole URI; write one with a scheme, as in 'docs://readme'`)
  }
  if (!isName(uri)) throw new TypeError(`A URI of a resource has more than ${MAX_NAME_BYTES} bytes; cut it`)
  const name = requireString(owner, 'name', given)
  checkDefinition(owner, 'resource', given, 'read', resourceChecks, EXAMPLE)
  return Object.freeze<Resource>({
    ...given,
    kind: 'resource',
    uri,
    name,
    scopes: scopesOf(owner, given.scopes),
    read: (call) => given.read(call),
  })
}

/** Checks and freezes a template, as `defineResource` does. A copy of a template keeps its completers. */
export function defineResourceTemplate(
  definition: ResourceTemplateDefinition | ResourceTemplate,
): ResourceTemplate {
  requireDefinition('defineResourceTemplate', definition, TEMPLATE_EXAMPLE, arguments)
  const copied = hasCompleters(definition, 'resource-template') ? definition as ResourceTemplate : undefined
  if (copied !== undefined && Object.isFrozen(copied)) return copied
  const given = definition as ResourceTemplateDefinition
  const uriTemplate = requireString('A resource template', 'uriTemplate', given)
  const owner = `The resource template '${uriTemplate}'`
  const name = requireString(owner, 'name', given)
  const checks = copied === undefined ? templateChecks : copyChecks
  checkDefinition(owner, 'resource-template', given, 'read', checks, TEMPLATE_EXAMPLE)
  const matcher = parseTemplate(uriTemplate)
  if (matcher.variables.length === 0) {
    throw new TypeError(`${owner} has no variable; write one, as in 'docs://{page}', or use defineResource`)
  }
  const { complete = copied && Object.fromEntries(copied.completers), ...rest } = given
  return Object.freeze<ResourceTemplate>({
    ...rest,
    kind: 'resource-template',
    uriTemplate,
    name,
    matcher,
    scopes: scopesOf(owner, given.scopes),
    completers: completersOf(owner, complete, matcher.variables),
    read: (variables, call) => given.read(variables, call),
  })
}

/** Origins that a page may reach, as in `https://api.example.com` or `https://*.example.com`. */
export interface UiOrigins {
  /** For requests: fetch, WebSocket. Left out: none. */
  readonly connectDomains?: readonly string[] | undefined
  /** For scripts, styles, pictures, fonts and media. Left out: none. */
  readonly resourceDomains?: readonly string[] | undefined
  /** For frames in the page. Left out: none. */
  readonly frameDomains?: readonly string[] | undefined
  /** For the page's `<base>`. Left out: its own. */
  readonly baseUriDomains?: readonly string[] | undefined
}

export interface UiPermissions {
  readonly camera?: object | undefined
  readonly microphone?: object | undefined
  readonly geolocation?: object | undefined
  readonly clipboardWrite?: object | undefined
}

/** What hosts learn of a page, besides its HTML. */
export interface UiPage {
  /** The origins that the page needs; hosts block all others. Left out: none. */
  readonly csp?: UiOrigins | undefined
  /** What the page asks of the browser, as in `{ camera: {} }`; hosts may refuse. */
  readonly permissions?: UiPermissions | undefined
  /** An origin of its own, in the form that the host prescribes. */
  readonly domain?: string | undefined
  /** Whether the host draws a border around it. Left out: as the host likes. */
  readonly prefersBorder?: boolean | undefined
}

/** What `ui` of a tool takes: `html`, `file`, the `uri` of a resource, or `visibility` alone. */
export interface ToolUiDefinition extends UiPage {
  /** The page: a whole HTML document, at most 8 MiB. */
  readonly html?: string | undefined
  /** A file with it, read when the tool is defined: a path, or a URL such as `new URL('./a.html', …)`. */
  readonly file?: string | URL | undefined
  /**
   * The address of the page, `ui://…`. Left out: made of the tool's name. Without `html` and `file`: of a
   * page that another tool or a resource has.
   */
  readonly uri?: string | undefined
  /** Who may call the tool: the `model`, the `app` that its page is, or both. Left out: both. */
  readonly visibility?: readonly ('model' | 'app')[] | undefined
}

/** The page of a tool that is ready to be served. */
export interface ToolUi {
  readonly uri: string | undefined
  readonly visibility: readonly ('model' | 'app')[]
  /** The page that comes with the tool, and its text; undefined where it is somebody else's. */
  readonly page: Resource | undefined
  readonly html: string | undefined
}

/** What a `ui` belongs to. */
export interface UiOwner {
  readonly name: string
  readonly title?: string | undefined
  readonly scopes: readonly string[]
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** What clients that know pages get as the `_meta` of a tool. */
export function metaWithUi(
  { _meta, ui }: Pick<UiOwner, '_meta'> & { readonly ui?: ToolUi | undefined },
): Readonly<Record<string, unknown>> | undefined {
  if (ui === undefined) return _meta
  // Some hosts let a page call only tools that say so.
  const { uri: resourceUri, visibility } = ui
  return { ..._meta, ui: { ...resourceUri !== undefined && { resourceUri }, visibility } }
}
