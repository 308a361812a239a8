/**
 * The interactive docs page: one file, read once. Its policy allows its own script and style by their digests
 * and refuses to load anything else.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { formatJson } from '../../kernel/wire/json.ts'
import { hostEntry, hostFlag, mcpHosts } from '../../floors/hosts/mcp-hosts.ts'
import { PackedReply } from './packed-reply.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'

interface Page { readonly etag: string; readonly reply: PackedReply; readonly unchanged: Reply }

let page: Page | undefined

export function readDocs(exchange: Exchange): Reply {
  page ??= makePage(servedText(readFileSync(new URL('./docs.html', import.meta.url), 'utf8')))
  const known = exchange.header('if-none-match')
  if (known !== undefined && (known.trim() === '*' || known.includes(page.etag))) return page.unchanged
  return page.reply.for(exchange)
}

/** What a browser needs of the file: indentation, lines of comment and blank ones are for who changes it. */
function servedText(html: string): string {
  return html.replace(/^ *(?:(?:\/\/.*)?\n)?/gm, '').replace('"hosts">[]', () => `"hosts">${hostsJson()}`)
}

/** Hosts and editors, as the page writes them. Only the browser knows the address. */
function hostsJson(): string {
  const url = '$URL'
  return formatJson(mcpHosts.map((host) => {
    const { id, title, protocol, files: { macos, project = macos }, member, format, then } = host
    const module = { command: 'npx', args: ['triport', 'serve', '/path/to/agent.js', hostFlag(host)] }
    return {
      id, title, protocol, file: project, then,
      // What most have is known there.
      member: member === 'mcpServers' ? undefined : member, format: format === 'json' ? undefined : format,
      process: hostEntry(host, module), address: hostEntry(host, { url }),
      keyed: host.takesVariables ? hostEntry(host, { url, keyVariable: 'TRIPORT_API_KEY' }) : undefined,
    }
  }))
}

function makePage(html: string): Page {
  const policy = [
    `default-src 'none'`, `script-src ${digests(html, 'script')}`, `style-src ${digests(html, 'style')}`,
    `connect-src 'self'`, `img-src data:`, `media-src data:`,
    `base-uri 'none'`, `form-action 'none'`, `frame-ancestors 'none'`,
  ]
  const etag = `"${digest(html)}"`
  const headers = Object.freeze([
    'Content-Security-Policy', policy.join('; '),
    'Referrer-Policy', 'no-referrer',
    'Cache-Control', 'no-cache',
    // Weak: it stands for the page, however it is packed.
    'ETag', `W/${etag}`,
    'Vary', 'Accept-Encoding',
  ])
  return {
    etag,
    reply: new PackedReply({ status: 200, type: 'text/html; charset=utf-8', headers }, html),
    unchanged: { status: 304, headers },
  }
}

function digests(html: string, element: string): string {
  const found = html.matchAll(new RegExp(`<${element}>([\\s\\S]*?)</${element}>`, 'g'))
  return [...found].map(([, text = '']) => `'sha256-${digest(text)}'`).join(' ')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
