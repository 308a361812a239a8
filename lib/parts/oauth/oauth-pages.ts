/** The pages of the OAuth proxy that people see. What clients have said stands in them as text. */
import { createHash } from 'node:crypto'
import { isLoopbackName } from '../../floors/outbound/secure-address.ts'
import { NO_STORE, OauthRefusal, refusalReply } from './oauth-refusal.ts'
import type { Reply } from '../../kernel/http/message/exchange.ts'
import type { OauthClient } from './oauth-metadata.ts'
import type { OauthErrorCode } from './oauth-refusal.ts'

/** What a client wants, as far as its user is shown it. */
interface Wish { readonly redirectUri: string; readonly scope: string | undefined }

const STYLE = ':root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:32rem;margin:10vh auto;'
  + 'padding:0 1rem}button{font:inherit;padding:.5rem 1.5rem;margin-right:1rem}code,b{overflow-wrap:anywhere}'
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64')

export const PAGE_HEADERS: readonly string[] = [
  ...NO_STORE, 'Referrer-Policy', 'no-referrer', 'X-Frame-Options', 'DENY',
  // A form may send the user on to the provider, which is another origin.
  'Content-Security-Policy',
  `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; frame-ancestors 'none'; base-uri 'none'`,
]

/** A refusal that a person reads. */
export class ShownRefusal extends OauthRefusal {
  readonly title: string

  constructor(code: OauthErrorCode, title: string, remedy: string) {
    super(code, remedy)
    this.title = title
  }
}

/** A refusal for the person at the browser; for a program, which asks for no page, an error of OAuth. */
export function shownRefusal(accept: string | undefined, refusal: OauthRefusal): Reply {
  const { code, message, status, headers } = refusal
  const title = refusal instanceof ShownRefusal ? refusal.title : 'This cannot be answered'
  const page = accept?.toLowerCase().includes('text/html') === true
    ? oauthPage(title, `${escaped(message)} (<code>${code}</code>)`, status)
    : refusalReply(new OauthRefusal(code, `${title}: ${message}`, status))
  return { ...page, headers: [...PAGE_HEADERS, ...headers] }
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function oauthPage(title: string, text: string, status: number, more = ''): Reply {
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    + `<title>${title}</title><style>${STYLE}</style>`
  const body = `<!doctype html><html lang="en">${head}<h1>${title}</h1><p>${text}</p>${more}`
  return { status, type: 'text/html; charset=utf-8', headers: PAGE_HEADERS, body }
}

/** Names the client as it names itself, and where its answer goes, which it cannot choose. */
export function consentPage(
  client: OauthClient, server: string, { redirectUri, scope }: Wish, request: string,
): Reply {
  const wants = scope === undefined ? 'all that you may do here' : `<code>${escaped(scope)}</code>`
  const text = `${whoIs(client)} wants to use <b>${escaped(server)}</b> as you. `
    + `It asks for ${wants}. `
    + `You will be sent back to ${placeOf(redirectUri)}. ${warningOf(client, redirectUri)}`
    + 'Go on only if you have just connected it yourself.'
  const form = '<form method="post" action="/oauth/consent">'
    + `<input type="hidden" name="request" value="${request}">`
    + '<button name="decision" value="allow">Allow</button>'
    + '<button name="decision" value="deny">Deny</button></form>'
  return oauthPage('Let this application in?', text, 200, form)
}

/** The host comes first: it was asked, and the name is what anyone may call themselves. */
function whoIs({ name, host }: OauthClient): string {
  const named = `<b>${escaped(name)}</b>`
  return host === undefined ? named : `An application of <b>${escaped(host)}</b>, called ${named},`
}

/** Whoever knows the address of a document can begin as its client, and be answered on their own device. */
function warningOf({ host }: OauthClient, redirectUri: string): string {
  if (host === undefined || isSite(redirectUri)) return ''
  return `<b>Any application on this device may say that it is of ${escaped(host)}.</b> `
}

/** The host of a site; of what is none, the whole address: its scheme says which application opens it. */
function placeOf(redirectUri: string): string {
  const { protocol, host, href } = new URL(redirectUri)
  const place = `<code>${escaped(host === '' ? protocol : host)}</code>`
  if (isSite(redirectUri)) return place
  return `${place}, an application on this device: <code>${escaped(href)}</code>`
}

function isSite(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri)
  return protocol === 'https:' && !isLoopbackName(hostname)
}
