/**
 * The page of a tool, which hosts show with its results (MCP Apps): HTML or a file in, a resource out.
 * Spec: https://modelcontextprotocol.io/extensions/apps, SEP-1865.
 */
import { statSync } from 'node:fs'
import { utf8Of } from '../../kernel/wire/base64.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { defineResource } from '../../kernel/define/resource.ts'
import { checkMembers, must, mustBeFlag, mustBeText, mustHave, show } from '../../kernel/define/validate.ts'
import { readSource, sourcePath, statSource } from '../../floors/files/source.ts'
import type { Resource } from '../../kernel/define/resource.ts'
import type { Checks } from '../../kernel/define/validate.ts'

/** Origins that a page may reach, as in `https://api.example.com` or `https://*.example.com`. */
interface UiOrigins {
  /** For requests: fetch, WebSocket. Left out: none. */
  readonly connectDomains?: readonly string[] | undefined
  /** For scripts, styles, pictures, fonts and media. Left out: none. */
  readonly resourceDomains?: readonly string[] | undefined
  /** For frames in the page. Left out: none. */
  readonly frameDomains?: readonly string[] | undefined
  /** For the page's `<base>`. Left out: its own. */
  readonly baseUriDomains?: readonly string[] | undefined
}

interface UiPermissions {
  readonly camera?: object | undefined
  readonly microphone?: object | undefined
  readonly geolocation?: object | undefined
  readonly clipboardWrite?: object | undefined
}

/** What hosts learn of a page, besides its HTML. */
interface UiPage {
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
interface UiOwner {
  readonly name: string
  readonly title?: string | undefined
  readonly scopes: readonly string[]
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** The media type of a page. */
const MIME_TYPE = 'text/html;profile=mcp-app'

const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** Scheme and host, perhaps with a port: nothing that could end a directive of a policy. */
const ORIGIN = /^(?:https?|wss?):\/\/(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?::(?:\d{1,5}|\*))?$/

const mustBeOrigins = must((value) => isStrings(value) && value.every((one) => ORIGIN.test(one)),
  `write a list of origins, as in ['https://api.example.com']`)

const originChecks: Checks<UiOrigins> = {
  connectDomains: mustBeOrigins, resourceDomains: mustBeOrigins, frameDomains: mustBeOrigins,
  baseUriDomains: mustBeOrigins,
}

const mustBeGranted = must(isRecord, 'write {}, or leave it out')

const permissionChecks: Checks<UiPermissions> = {
  camera: mustBeGranted, microphone: mustBeGranted, geolocation: mustBeGranted, clipboardWrite: mustBeGranted,
}

const pageChecks: Checks<UiPage> = {
  csp: mustHave(originChecks, `{ connectDomains: ['https://api.example.com'] }`),
  permissions: mustHave(permissionChecks, '{ camera: {} }'), domain: mustBeText, prefersBorder: mustBeFlag,
}

const uiChecks: Checks<ToolUiDefinition> = {
  ...pageChecks, html: true, file: true,
  uri: must((value) => typeof value === 'string' && value.startsWith('ui://') && URL.canParse(value),
    `write an address of ui:, as in 'ui://shop/cart'`),
  visibility: must((value) => isStrings(value) && value.length > 0
    && value.every((one) => one === 'model' || one === 'app'), `write ['model'], ['app'] or both`),
}

/** What was made here: a copy of a tool keeps it. */
const made = new WeakSet<object>()

/** Checks the `ui` of a tool, and reads its file. Throws `TypeError` with a sentence for every mistake. */
export function toolUiOf(owner: string, tool: UiOwner, given: unknown): ToolUi | undefined {
  if (given === undefined) return undefined
  if (!isRecord(given)) throw new TypeError(`${owner} has ui ${show(given)}; write { file: './page.html' }`)
  if (made.has(given)) return given as unknown as ToolUi
  checkMembers(`${owner}, in its ui,`, given, uiChecks)
  const { html, file, uri, visibility = ['model', 'app'], ...about } = given as ToolUiDefinition
  if (tool._meta?.['ui'] !== undefined) {
    throw new TypeError(`${owner} has ui, and ui in its _meta as well; leave out the one in _meta`)
  }
  if (html !== undefined && file !== undefined) {
    throw new TypeError(`${owner} has ui.html and ui.file; leave one of them out`)
  }
  const hasPage = html !== undefined || file !== undefined
  const stray = hasPage ? undefined : Object.keys(about).find((member) => member in pageChecks)
  if (stray !== undefined) {
    throw new TypeError(`${owner} has ui.${stray} without a page; write it where the page is: beside its `
      + `html or file, or as _meta: { ui: { ${stray}: … } } of its resource`)
  }
  if (!hasPage && uri === undefined && given['visibility'] === undefined) {
    throw new TypeError(`${owner} has a ui without a page; write ui: { file: './page.html' }, or { html }`)
  }
  const address = uri ?? `ui://tools/${tool.name}`
  const text = hasPage ? documentOf(owner, html, file) : undefined
  const page = text === undefined ? undefined : pageOf(tool, address, text, about)
  const ui = Object.freeze<ToolUi>({ uri: hasPage ? address : uri, visibility, page, html: text })
  made.add(ui)
  return ui
}

/** The HTML, of whichever of the two is there. */
function documentOf(owner: string, html: unknown, file: unknown): string {
  const member = file === undefined ? 'ui.html' : 'ui.file'
  const text = file === undefined ? html : textIn(`${owner}: its ui.file`, file)
  if (typeof text !== 'string') throw new TypeError(`${owner} has ui.html ${show(text)}; write a document`)
  if (Buffer.byteLength(text) > MAX_PAGE_BYTES) {
    throw new TypeError(`${owner} has a ${member} of more than ${MAX_PAGE_BYTES} bytes; make it smaller`)
  }
  // Hosts refuse fragments.
  if (/^\uFEFF?\s*(?:<!--(?:(?!-->)[^])*-->\s*)*(?:<!doctype html[\s>]|<html[\s>])/i.test(text)) return text
  throw new TypeError(`${owner} has a ${member} that is no whole document; begin it with <!doctype html>`)
}

function textIn(owner: string, file: unknown): string {
  const path = sourcePath(owner, file)
  statSource(owner, path)
  // A link is followed here: who names a file means what it points to.
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isFile() !== true) throw new TypeError(`${owner} is no file: ${path}; name an HTML file`)
  const text = utf8Of(readSource(owner, path, stat, MAX_PAGE_BYTES))
  if (text !== undefined) return text
  throw new TypeError(`${owner} is no UTF-8: ${path}; save it as UTF-8`)
}

function pageOf({ name, title, scopes }: UiOwner, uri: string, html: string, about: UiPage): Resource {
  const shown = Object.entries(about).filter(([, value]) => value !== undefined)
  return defineResource({
    uri, name, mimeType: MIME_TYPE, scopes, read: () => html,
    ...title !== undefined && { title },
    ...shown.length > 0 && { _meta: { ui: Object.fromEntries(shown) } },
  })
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

/** Whether a model may be offered the tool: others are for the page alone. */
export function isForModels({ ui }: { readonly ui?: ToolUi | undefined }): boolean {
  return ui === undefined || ui.visibility.includes('model')
}
