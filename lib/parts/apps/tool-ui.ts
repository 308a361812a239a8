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
import { splitList } from '../../kernel/wire/media.ts'
import type {
  Resource, ToolUi, ToolUiDefinition, UiOrigins, UiOwner, UiPage, UiPermissions,
} from '../../kernel/define/resource.ts'
import type { Checks } from '../../kernel/define/validate.ts'

/** The media type of a page. */
export const PAGE_TYPE = 'text/html;profile=mcp-app'

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
export function toolUiOf(owner: string, tool: UiOwner, given: unknown): ToolUi {
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
    uri, name, mimeType: PAGE_TYPE, scopes, read: () => html,
    ...title !== undefined && { title },
    ...shown.length > 0 && { _meta: { ui: Object.fromEntries(shown) } },
  })
}

/** Whether a model may be offered the tool: others are for the page alone. */
export function isForModels({ ui }: { readonly ui?: ToolUi | undefined }): boolean {
  return ui === undefined || ui.visibility.includes('model')
}

/** Whether two media types are one: in any case, and with their parameters written in any way. */
export function isSameMediaType(one: unknown, other: string): boolean {
  return typeof one === 'string' && plainType(one) === plainType(other)
}

function plainType(mediaType: string): string {
  const [type = '', ...parameters] = splitList(mediaType, ';').map((item) => item.trim())
  const plain = parameters.filter((one) => one !== '').map((one) => {
    const [name = '', ...value] = one.split('=')
    return `${name.toLowerCase()}=${value.join('=').replace(/^"(.*)"$/, '$1')}`
  })
  return [type.toLowerCase(), ...plain.sort()].join(';')
}
