import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { echo, request, serve } from '../fixtures/client.ts'

const page = readFileSync('lib/rest/docs.html', 'utf8')

function digestsOf(element: string): readonly string[] {
  const found = [...page.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))]
  assert.ok(found.length > 0, element)
  return found.map(([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`)
}

test('the page is served whole, with a policy that lets its own parts run and nothing else', async (t) => {
  const response = await serve(t, { agents: [echo] }).fetch(request('/docs'))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  const policy = String(response.headers.get('content-security-policy'))
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0]!, rule.split(' ').slice(1)]))
  assert.deepEqual(rules.get('default-src'), [`'none'`])
  assert.deepEqual(rules.get('connect-src'), [`'self'`])
  assert.deepEqual(rules.get('frame-ancestors'), [`'none'`])
  assert.deepEqual(rules.get('script-src'), digestsOf('script'))
  assert.deepEqual(rules.get('style-src'), digestsOf('style'))
  assert.equal(await response.text(), page)
})

test('the page needs nothing from elsewhere, and nothing that its policy forbids', () => {
  const loads = /<(?:script|link|img|iframe|form)\b[^>]*?\b(?:src|href|action)="([^"]*)"/g
  const fetched = [...page.matchAll(loads)].map(([, url]) => url!)
  assert.deepEqual(fetched.filter((url) => !url.startsWith('data:')), [])
  assert.doesNotMatch(page, /@import|url\(\s*['"]?http/)
  assert.doesNotMatch(page, /<[^>]+\son[a-z]+=/i, 'a handler in an attribute would not run')
  assert.doesNotMatch(page, /<[^>]+\sstyle=/i, 'a style in an attribute would not hold')
})
