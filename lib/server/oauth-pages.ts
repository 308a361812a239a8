/** The pages of the OAuth proxy that people see. What clients have said stands in them as text. */
import type { Reply } from '../http/message/exchange.ts'

/** What a client wants, as far as its user is shown it. */
interface Wish { readonly redirectUri: string; readonly scope: string | undefined }

export const NO_STORE: readonly string[] = ['Cache-Control', 'no-store']
export const PAGE_HEADERS: readonly string[] = [
  ...NO_STORE, 'Referrer-Policy', 'no-referrer', 'X-Frame-Options', 'DENY',
  // A form may send the user on to the provider, which is another origin.
  'Content-Security-Policy',
  `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'`,
]

export function expired(): Reply {
  const what = 'This login is too old, or began in another browser'
  return oauthPage(what, 'Connect the application again.', 400)
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const STYLE = ':root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:32rem;margin:10vh auto;'
  + 'padding:0 1rem}button{font:inherit;padding:.5rem 1.5rem;margin-right:1rem}code{overflow-wrap:anywhere}'

export function oauthPage(title: string, text: string, status: number, more = ''): Reply {
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    + `<title>${title}</title><style>${STYLE}</style>`
  const body = `<!doctype html><html lang="en">${head}<h1>${title}</h1><p>${text}</p>${more}`
  return { status, type: 'text/html; charset=utf-8', headers: PAGE_HEADERS, body }
}

/** Names the client as it names itself, and where its answer goes, which it cannot choose. */
export function consentPage(
  client: string, server: string, { redirectUri, scope }: Wish, request: string,
): Reply {
  const { protocol, host } = new URL(redirectUri)
  const where = escaped(host === '' ? protocol : host)
  const wants = scope === undefined || scope === '' ? '' : ` It asks for <code>${escaped(scope)}</code>.`
  const text = `<b>${escaped(client)}</b> wants to use <b>${escaped(server)}</b> as you.${wants} You will be `
    + `sent back to <code>${where}</code>. Go on only if you have just connected it yourself.`
  const form = '<form method="post" action="/oauth/consent">'
    + `<input type="hidden" name="request" value="${request}">`
    + '<button name="decision" value="allow">Allow</button>'
    + '<button name="decision" value="deny">Deny</button></form>'
  return oauthPage('Let this application in?', text, 200, form)
}
