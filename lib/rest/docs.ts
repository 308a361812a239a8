/**
 * The interactive docs page: one file, read once, with a policy that lets it load nothing from elsewhere.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Reply } from '../http/exchange.ts'

let page: Reply | undefined

/** The page as a reply. Its script and style are allowed by their digests, everything else is refused. */
export function readDocs(): Reply {
  if (page === undefined) {
    const html = readFileSync(new URL('./docs.html', import.meta.url), 'utf8')
    const policy = [
      `default-src 'none'`, `script-src ${digests(html, 'script')}`, `style-src ${digests(html, 'style')}`,
      `connect-src 'self'`, `img-src data:`,
      `base-uri 'none'`, `form-action 'none'`, `frame-ancestors 'none'`,
    ]
    page = {
      status: 200,
      type: 'text/html; charset=utf-8',
      headers: [
        'Content-Security-Policy', policy.join('; '),
        'X-Content-Type-Options', 'nosniff',
        'Referrer-Policy', 'no-referrer',
        'Cache-Control', 'no-cache',
      ],
      body: html,
    }
  }
  return page
}

function digests(html: string, element: string): string {
  const found = html.matchAll(new RegExp(`<${element}>([\\s\\S]*?)</${element}>`, 'g'))
  const digest = (text: string): string => createHash('sha256').update(text).digest('base64')
  return [...found].map(([, text = '']) => `'sha256-${digest(text)}'`).join(' ')
}
