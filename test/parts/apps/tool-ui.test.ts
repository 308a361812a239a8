import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { defineTool } from '../../../lib/preset/define.ts'
import { metaWithUi } from '../../../lib/kernel/define/resource.ts'
import { isSameMediaType } from '../../../lib/parts/apps/tool-ui.ts'
import { onSource } from '../../../lib/floors/files/source-files.ts'
import type { Call, Tool, ToolDefinition } from '../../../lib/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'pages-'))
after(() => { rmSync(folder, { recursive: true }) })

const html = '<!doctype html><title>Cart</title>'
const file = join(folder, 'cart.html')
writeFileSync(file, html)

type Ui = ToolDefinition['ui']

function cart(ui: Ui, more: Partial<ToolDefinition> = {}): Tool {
  return defineTool({ name: 'cart', run: () => '', ...more, ui } as ToolDefinition)
}

function htmlOf({ ui }: Tool): unknown {
  return ui?.page?.read({} as Call)
}

test('a page is given as HTML, or as a file by a path or a URL', () => {
  const url = pathToFileURL(file)
  for (const ui of [{ html }, { file }, { file: relative('', file) }, { file: url }, { file: url.href }]) {
    const tool = cart(ui)
    assert.equal(htmlOf(tool), html)
    assert.equal(tool.ui?.uri, 'ui://tools/cart')
    assert.equal(tool.ui.page?.mimeType, 'text/html;profile=mcp-app')
  }
  for (const fine of ['<HTML><p>a', '\uFEFF\n<!-- a -->\n<!DOCTYPE HTML>', '<html lang="en">']) {
    assert.equal(htmlOf(cart({ html: fine })), fine)
  }
  const link = join(folder, 'link.html')
  symlinkSync(file, link)
  assert.equal(htmlOf(cart({ file: link })), html)
})

test('a page has the scopes and the title of its tool, and what hosts learn of it', () => {
  const csp = { connectDomains: ['https://api.example.com', 'wss://*.example.com:*'], frameDomains: [] }
  const { ui } = cart(
    { html, csp, permissions: { camera: {} }, prefersBorder: false, domain: 'a.example.com' },
    { title: 'Cart', scopes: ['buy'] },
  )
  const { page } = ui!
  assert.deepEqual([page?.title, page?.scopes], ['Cart', ['buy']])
  const _meta = { ui: { csp, permissions: { camera: {} }, domain: 'a.example.com', prefersBorder: false } }
  assert.deepEqual(page?._meta, _meta)
  assert.equal(cart({ html }).ui?.page?._meta, undefined)
})

test('the _meta of a tool has the address of its page, and who may call it', () => {
  const row = (ui: Ui, more = {}): unknown => metaWithUi(cart(ui, more))
  assert.deepEqual(row({ html }), { ui: { resourceUri: 'ui://tools/cart', visibility: ['model', 'app'] } })
  assert.deepEqual(row({ uri: 'ui://a/b', visibility: ['model'] }, { _meta: { 'a/b': 1 } }),
    { 'a/b': 1, 'ui': { resourceUri: 'ui://a/b', visibility: ['model'] } })
  assert.deepEqual(row({ visibility: ['app'] }), { ui: { visibility: ['app'] } })
  assert.equal(row(undefined), undefined)
})

test('a copy of a tool has the page of the first', () => {
  const first = cart({ html })
  const second = defineTool({ ...first, name: 'other' })
  assert.equal(second.ui, first.ui)
})

test('each mistake is named, with how to mend it', () => {
  const large = join(folder, 'large.html')
  writeFileSync(large, html)
  truncateSync(large, 8 * 1024 * 1024 + 1)
  const odd = join(folder, 'odd.html')
  writeFileSync(odd, Buffer.concat([Buffer.from(html), Buffer.from([0xff])]))
  mkdirSync(join(folder, 'pages'))
  const rows: readonly (readonly [ui: unknown, complaint: RegExp])[] = [
    ['page.html', /^The tool 'cart' has ui "page.html"; write \{ file: '.\/page.html' \}$/],
    [{}, /has a ui without a page; write ui: \{ file/],
    [{ html, file }, /has ui.html and ui.file; leave one of them out/],
    [{ html: '<b>a</b>' }, /has a ui.html that is no whole document; begin it with <!doctype html>/],
    // Each further comment must not double the time.
    [{ html: '<!-- a -->'.repeat(1_000) }, /is no whole document/],
    [{ html: 1 }, /has ui.html 1; write a document/],
    [{ html: html + ' '.repeat(8 * 1024 * 1024) }, /has a ui.html of more than 8388608 bytes/],
    [{ file: '' }, /its ui.file is ""; write a path, or .* new URL\('.\/name', import.meta.url\)/],
    [{ file: 'https://example.com/a.html' }, /its ui.file is not there: .* new URL/],
    [{ file: new URL('https://example.com/a') }, /its ui.file is "https:\/\/example.com\/a"; write a path/],
    [{ file: './nowhere.html' }, /its ui.file is not there: .*nowhere.html. A relative path begins at the/],
    [{ file: join(folder, 'pages') }, /its ui.file is no file: .*pages; name an HTML file/],
    [{ file: large }, /its ui.file has more than 8388608 bytes: .*; make it smaller/],
    [{ file: odd }, /its ui.file is no UTF-8: .*odd.html; save it as UTF-8/],
    [{ html, uri: 'https://example.com' }, /uri "https:\/\/example.com"; write an address of ui:/],
    [{ html, visibility: [] }, /visibility an array; write \['model'\], \['app'\] or both/],
    [{ html, visibility: ['user'] }, /write \['model'\], \['app'\] or both/],
    [{ html, csp: { connectDomains: ['a b'] } }, /in its csp, has connectDomains an array; write a list/],
    [{ html, csp: { connectDomains: [`https://a.com; script-src *`] } }, /write a list of origins/],
    [{ html, csp: { connectDomain: [] } }, /connectDomain.*connectDomains/],
    [{ html, permissions: { camera: true } }, /in its permissions, has camera true; write \{\}/],
    [{ html, prefersBorder: 'no' }, /prefersBorder "no"; write true or false/],
    [{ html, resourceUri: 'ui://a/b' }, /'resourceUri'/],
    [{ uri: 'ui://a/b', csp: {} }, /has ui.csp without a page; write it where the page is/],
  ]
  for (const [ui, message] of rows) {
    assert.throws(() => cart(ui as Ui), { name: 'TypeError', message }, JSON.stringify(ui))
  }
  const message = /has ui, and ui in its _meta as well; leave out the one in _meta/
  assert.throws(() => cart({ html }, { _meta: { ui: {} } }), { message })
})

test('a file is noted before it is read, so that a broken one can be watched', () => {
  const noted: string[] = []
  onSource((path) => { noted.push(path) })
  assert.throws(() => cart({ file: join(folder, 'gone.html') }))
  cart({ file })
  onSource(() => {})
  assert.deepEqual([...new Set(noted)], [join(folder, 'gone.html'), file])
})

test('media types are compared in any case, and their parameters however they are written', () => {
  const page = 'text/html;profile=mcp-app'
  for (const one of [page, 'TEXT/HTML; Profile=mcp-app', 'text/html ;profile="mcp-app";']) {
    assert.equal(isSameMediaType(one, page), true, one)
  }
  for (const one of ['text/html', 'text/html;profile=MCP-app', `${page};v=1`, undefined, 7]) {
    assert.equal(isSameMediaType(one, page), false, String(one))
  }
})
