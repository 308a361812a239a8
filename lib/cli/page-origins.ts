/** What the page of a tool loads from elsewhere, and hosts block because its `csp` does not list it. */
import { isRecord } from '../define/content.ts'
import { isStrings } from '../wire/json.ts'
import type { ToolUi } from '../define/files/tool-ui.ts'

/** One blocked origin: the element that loads from it, and the member of `csp` that would allow it. */
export interface BlockedOrigin {
  readonly element: string
  readonly origin: string
  readonly member: 'resourceDomains' | 'frameDomains'
}

const COMMENT = /<!--[^]*?-->/g
const ELEMENT = /<(script|img|audio|video|source|iframe|link)\b([^>]*)>/gi
const ADDRESS = /\s(?:src|href)\s*=\s*["']?(https?:\/\/[^\s"'>]+)/i
/** Of links only these load something. */
const LOADS = /\srel\s*=\s*["']?(?:stylesheet|icon|modulepreload|preload)\b/i

/** Each once, in the order of the page. Read from its text: what a script loads later is not seen. */
export function blockedOrigins({ html = '', page }: ToolUi): readonly BlockedOrigin[] {
  const ui = page?._meta?.['ui']
  const csp = isRecord(ui) && isRecord(ui['csp']) ? ui['csp'] : {}
  const found = new Map<string, BlockedOrigin>()
  for (const [, name = '', attributes = ''] of html.replace(COMMENT, '').matchAll(ELEMENT)) {
    const element = name.toLowerCase()
    const [, address = ''] = ADDRESS.exec(attributes) ?? []
    if (!URL.canParse(address) || (element === 'link' && !LOADS.test(attributes))) continue
    const { origin } = new URL(address)
    const member = element === 'iframe' ? 'frameDomains' : 'resourceDomains'
    const listed = csp[member]
    if (isStrings(listed) && listed.some((one) => covers(one, origin))) continue
    found.set(`${member} ${origin}`, { element, origin, member })
  }
  return [...found.values()]
}

/** Whether an entry of `csp` allows an origin; `https://*.example.com` does all names below. */
function covers(entry: string, origin: string): boolean {
  const [scheme, rest = ''] = entry.toLowerCase().split('://')
  if (!rest.startsWith('*.')) return `${scheme}://${rest}` === origin
  return origin.startsWith(`${scheme}://`) && origin.endsWith(rest.slice(1))
}
